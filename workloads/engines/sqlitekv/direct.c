/* Answers a SELECT of one row by its key from the query cache, without SQLite's compiler or
 * LevelDB, if its text is in this subset of SQL:
 *
 *   SELECT columns FROM table WHERE key = number
 *
 * Columns are names or *, the key is one column of integers, and the number has digits only. The
 * same text means the same to SQLite, which gets every other statement.
 */
#include "direct.h"

struct token {
	const char *text;
	int size; /* 0: the end */
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Returns whether a byte belongs to a name or number; names with other letters are SQLite's. */
static bool is_word(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || is_digit(byte) ||
	       byte == '_';
}

/* Takes a word, or one other byte. */
static struct token take(const char **text)
{
	const char *begin = *text, *end;

	while (*begin == ' ' || (*begin >= '\t' && *begin <= '\r' && *begin != '\v'))
		begin++;
	for (end = begin; is_word(*end);)
		end++;
	if (end == begin && *begin != '\0')
		end++;
	*text = end;
	return (struct token){begin, (int)(end - begin)};
}

static bool equal(struct token token, const char *word)
{
	return sqlite3_strnicmp(token.text, word, token.size) == 0 && word[token.size] == '\0';
}

/* A keyword may be a name, or something else, such as CURRENT_DATE. */
static bool is_name(struct token token)
{
	return token.size > 0 && is_word(token.text[0]) && !is_digit(token.text[0]) &&
	       !sqlite3_keyword_check(token.text, token.size);
}

/* Reads an integer of 64 bits; a larger number is a real. */
static bool read_number(struct token token, int64_t *number)
{
	*number = 0;
	for (int i = 0; i < token.size; i++) {
		int digit = token.text[i] - '0';

		if (!is_digit(token.text[i]) || *number > (INT64_MAX - digit) / 10)
			return false;
		*number = *number * 10 + digit;
	}
	return token.size > 0;
}

static struct kv_table *find_table(const struct module *module, struct token name)
{
	struct kv_table *table = module->tables;

	while (table != NULL && !equal(name, table->name))
		table = table->next;
	return is_name(name) ? table : NULL;
}

static bool has_integer_key(const struct kv_schema *schema)
{
	return schema->key_count == 1 && schema->key[0] >= 0 &&
	       schema->columns[schema->key[0]].affinity == 'I';
}

static bool is_key(const struct kv_schema *schema, struct token name)
{
	return has_integer_key(schema) && is_name(name) &&
	       equal(name, schema->columns[schema->key[0]].name);
}

/* Skips names of columns, separated by commas, or *; and FROM. */
static bool skip_columns(const char **text)
{
	struct token token = take(text);

	if (equal(token, "*"))
		return equal(take(text), "FROM");
	for (;; token = take(text)) {
		if (!is_name(token))
			return false;
		token = take(text);
		if (equal(token, "FROM"))
			return true;
		if (!equal(token, ","))
			return false;
	}
}

/* Sets the numbers of the columns that `text` has. False: the table lacks one. */
static bool find_columns(const struct kv_schema *schema, const char *text, int *columns, int *count)
{
	struct token token = take(&text);
	bool is_all = equal(token, "*");

	for (*count = 0; *count < DIRECT_COLUMNS; token = take(&text)) {
		int column = is_all ? *count : 0;

		while (!is_all && column < schema->count &&
		       !equal(token, schema->columns[column].name))
			column++;
		if (column == schema->count)
			return is_all;
		columns[(*count)++] = column;
		if (!is_all && !equal(take(&text), ","))
			return true;
	}
	return is_all && *count == schema->count;
}

/* SQLite looks a name up among temporary tables and views first. */
static bool has_temporary(sqlite3 *db)
{
	sqlite3_file *file;

	return sqlite3_file_control(db, "temp", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK;
}

/* Looks the row up that has the key; `text`: its columns. */
static bool read_row(struct kv_table *table, const char *text, int64_t number,
		     struct direct *direct)
{
	const struct kv_schema *schema = &table->schema;
	struct field key = {.type = SQLITE_INTEGER, .integer = number};
	struct store *store = table->store;
	struct cache *cache = store_cache(store);
	int columns[DIRECT_COLUMNS];
	struct slice row;

	if (cache == NULL || !find_columns(schema, text, columns, &direct->count))
		return false;
	key_begin(&table->key, table->shared->id);
	key_add(&table->key, &key, BINARY);
	if (table->key.failed)
		return false;
	if (!cache_find(cache, CACHE_ROW, bytes_slice(&table->key), &row)) {
		store->looked_up = true;
		return false;
	}
	direct->has_row = row.size > 0;
	for (int i = 0; direct->has_row && i < direct->count; i++) {
		direct->fields[i] = key;
		/* SQLite reports a damaged row */
		if (schema->columns[columns[i]].kept &&
		    !row_read(row, schema, columns[i], &direct->fields[i]))
			return false;
	}
	return true;
}

bool direct_read(struct module *module, const char **text, struct direct *direct)
{
	const char *rest = *text, *columns;
	struct kv_table *table;
	struct token end;
	int64_t number;

	if (!equal(take(&rest), "SELECT"))
		return false;
	columns = rest;
	if (!skip_columns(&rest))
		return false;
	table = find_table(module, take(&rest));
	if (table == NULL || !equal(take(&rest), "WHERE") || !is_key(&table->schema, take(&rest)) ||
	    !equal(take(&rest), "=") || !read_number(take(&rest), &number))
		return false;
	end = take(&rest);
	if ((end.size > 0 && !equal(end, ";")) || has_temporary(module->db) ||
	    !read_row(table, columns, number, direct))
		return false;
	*text = rest;
	return true;
}

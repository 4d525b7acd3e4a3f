/* Virtual tables: their arguments, and the tables of a database. */
#include "values.h"

#include <string.h>

/* CREATE VIRTUAL TABLE's arguments begin with the module, the schema and the table. */
enum { TABLE_NAME = 2, PATH = 3, FIRST_ARGUMENT = 4 };

struct request {
	char *path, *declaration;
	struct store_options store;
	bool blind;
};

/* Returns the length of the argument's name if it is `name = value`, 0 for a column. */
static size_t option_name(const char *argument, const char **value)
{
	size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const char *rest = argument + length;

	rest += strspn(rest, " \t\r\n");
	if (length == 0 || *rest != '=')
		return 0;
	*value = rest + 1 + strspn(rest + 1, " \t\r\n");
	return length;
}

static bool is_name(const char *argument, size_t length, const char *name)
{
	return strlen(name) == length && sqlite3_strnicmp(argument, name, (int)length) == 0;
}

static bool read_bytes(const char *text, int64_t *number)
{
	size_t digits = strspn(text, "0123456789");

	*number = 0;
	if (digits == 0 || digits > 10 || text[digits] != '\0')
		return false;
	for (; *text != '\0'; text++)
		*number = 10 * *number + (*text - '0');
	return *number <= INT32_MAX;
}

static int read_option(struct request *request, const char *argument, size_t length,
		       const char *value, char **message)
{
	if (is_name(argument, length, "sync")) {
		request->store.sync_given = true;
		request->store.sync = sqlite3_stricmp(value, "full") == 0;
		return request->store.sync || sqlite3_stricmp(value, "off") == 0
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR, "sync=%s: sync is full or off",
					 value);
	}
	if (is_name(argument, length, "cache")) {
		request->store.cache_given = true;
		return read_bytes(value, &request->store.cache_size)
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR,
					 "cache=%s: cache is a number of bytes", value);
	}
	if (is_name(argument, length, "form")) {
		request->blind = sqlite3_stricmp(value, "direct") == 0;
		return request->blind || sqlite3_stricmp(value, "table") == 0
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR, "form=%s: form is table or direct",
					 value);
	}
	return kv_fail(message, SQLITE_ERROR, "%.*s is not an option; sync, cache and form are",
		       (int)length, argument);
}

/* Returns the path without its quotes. NULL: no memory. */
static char *unquote(const char *argument)
{
	char quote = argument[0], *path = sqlite3_mprintf("%s", argument), *end = path;

	if (path == NULL || (quote != '\'' && quote != '"'))
		return path;
	for (const char *place = argument + 1; *place != '\0'; place++) {
		if (*place == quote && *++place != quote)
			break;
		*end++ = *place;
	}
	*end = '\0';
	return path;
}

static int read_request(int count, const char *const *arguments, struct request *request,
			char **message)
{
	sqlite3_str *declaration = sqlite3_str_new(NULL);
	int result = SQLITE_OK;

	*request = (struct request){0};
	if (count <= PATH || arguments[PATH][0] == '\0')
		result = kv_fail(message, SQLITE_ERROR,
				 "the first argument is the database's folder");
	else if ((request->path = unquote(arguments[PATH])) == NULL)
		result = SQLITE_NOMEM;
	for (int i = FIRST_ARGUMENT; result == SQLITE_OK && i < count; i++) {
		const char *value;
		size_t length = option_name(arguments[i], &value);

		if (length > 0)
			result = read_option(request, arguments[i], length, value, message);
		else
			sqlite3_str_appendf(declaration, "%s%s",
					    sqlite3_str_length(declaration) > 0 ? ", " : "",
					    arguments[i]);
	}
	if (result == SQLITE_OK)
		result = sqlite3_str_errcode(declaration);
	request->declaration = sqlite3_str_finish(declaration);
	return result;
}

static void free_request(struct request *request)
{
	sqlite3_free(request->path);
	sqlite3_free(request->declaration);
}

/* Returns an id that no table has: the largest plus 1. */
static int new_id(struct store *store, uint32_t *id, char **message)
{
	struct scan scan = {0};
	int result;

	key_of_schema(&scan.start, "");
	key_of_schema(&scan.end, "\xff");
	result = scan_begin(&scan, store, false, message);
	for (*id = 1; result == SQLITE_OK && scan.valid; result = scan_next(&scan, message)) {
		uint64_t other;

		if (slice_take_varint(&scan.value, &other) && other >= *id)
			*id = (uint32_t)other + 1;
	}
	scan_close(&scan);
	return result;
}

/* Reads the stored schema, or stores a new one. */
static int open_schema(struct kv_table *table, const struct request *request, bool create,
		       uint32_t *id, char **message)
{
	struct store *store = table->store;
	struct kv_schema given = {0};
	struct slice rest;
	uint64_t stored;
	bool found;
	int result = SQLITE_OK;
	char *declaration;

	key_of_schema(&table->key, table->name);
	if (table->key.failed)
		return SQLITE_NOMEM;
	result = store_get(store, bytes_slice(&table->key), &table->value, &found, message);
	if (result == SQLITE_OK && request->declaration != NULL)
		result = schema_parse(request->declaration, &given, message);
	if (result == SQLITE_OK && !found && !create)
		result = kv_fail(message, SQLITE_NOTFOUND, "%s has no table %s", store->path,
				 table->name);
	else if (result == SQLITE_OK && !found && request->declaration == NULL)
		result = kv_fail(message, SQLITE_ERROR, "%s has no table %s; declare its columns",
				 store->path, table->name);
	if (result != SQLITE_OK) {
		schema_free(&given);
		return result;
	}
	if (!found) {
		table->schema = given;
		result = new_id(store, id, message);
		bytes_clear(&table->value);
		bytes_add_varint(&table->value, *id);
		bytes_add(&table->value, request->declaration, strlen(request->declaration));
		if (table->value.failed)
			return SQLITE_NOMEM;
		return result == SQLITE_OK ? store_put(store, bytes_slice(&table->key),
						       bytes_slice(&table->value))
					   : result;
	}
	rest = bytes_slice(&table->value);
	if (!slice_take_varint(&rest, &stored) || stored == 0 || stored > UINT32_MAX) {
		schema_free(&given);
		return kv_fail(message, SQLITE_CORRUPT_VTAB,
			       "%s: the schema of table %s is damaged", store->path, table->name);
	}
	*id = (uint32_t)stored;
	declaration = sqlite3_mprintf("%.*s", (int)rest.size, (const char *)rest.data);
	result = declaration == NULL ? SQLITE_NOMEM
				     : schema_parse(declaration, &table->schema, message);
	if (result == SQLITE_OK && request->declaration != NULL &&
	    !schema_equal(&given, &table->schema))
		result = kv_fail(message, SQLITE_ERROR, "table %s of %s is declared as (%s)",
				 table->name, store->path, declaration);
	sqlite3_free(declaration);
	schema_free(&given);
	return result;
}

/* Finds the table among those that the connection has open, or adds it. */
static int share(struct kv_table *table, uint32_t id)
{
	struct store *store = table->store;
	struct shared_table *shared = store->tables;

	while (shared != NULL && sqlite3_stricmp(shared->name, table->name) != 0)
		shared = shared->next;
	if (shared == NULL) {
		shared = sqlite3_malloc64(sizeof(*shared));
		if (shared == NULL)
			return SQLITE_NOMEM;
		*shared = (struct shared_table){.next = store->tables,
						.name = sqlite3_mprintf("%s", table->name)};
		store_next_epoch(store, shared);
		if (shared->name == NULL) {
			sqlite3_free(shared);
			return SQLITE_NOMEM;
		}
		store->tables = shared;
	}
	shared->id = id;
	shared->references++;
	table->shared = shared;
	return SQLITE_OK;
}

static void unshare(struct kv_table *table)
{
	struct shared_table **link = &table->store->tables;

	if (table->shared == NULL || --table->shared->references > 0)
		return;
	while (*link != table->shared)
		link = &(*link)->next;
	*link = table->shared->next;
	sqlite3_free(table->shared->name);
	sqlite3_free(table->shared);
}

static void drop(struct kv_table *table)
{
	if (table->store != NULL) {
		unshare(table);
		store_close(table->store);
	}
	sqlite3_free(table->gone);
	schema_free(&table->schema);
	bytes_free(&table->key);
	bytes_free(&table->other);
	bytes_free(&table->value);
	sqlite3_free(table->fields);
	sqlite3_free(table->name);
	sqlite3_free(table);
}

static int declare(sqlite3 *db, const struct kv_table *table, char **message)
{
	char *sql = schema_declare(&table->schema);
	int result = sql == NULL ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql);

	sqlite3_free(sql);
	if (result == SQLITE_ERROR)
		return kv_fail(message, result, "%s", sqlite3_errmsg(db));
	return result == SQLITE_OK ? sqlite3_vtab_config(db, SQLITE_VTAB_CONSTRAINT_SUPPORT, 1)
				   : result;
}

/* Keys of texts are in UTF-8; in a database in UTF-16 SQLite has another order. */
static int check_encoding(sqlite3 *db, char **message)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL);

	if (result != SQLITE_OK)
		return result;
	if (sqlite3_step(statement) == SQLITE_ROW &&
	    strcmp((const char *)sqlite3_column_text(statement, 0), "UTF-8") != 0)
		result = kv_fail(message, SQLITE_ERROR,
				 "this database has texts in %s; only UTF-8 is supported",
				 sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return result;
}

static int open_table(struct kv_table *table, const struct request *request, bool create,
		      char **message)
{
	uint32_t id = 0;
	int result = store_open(table->module, request->path, &request->store, create,
				&table->store, message);

	table->blind = request->blind;
	if (result == SQLITE_OK)
		result = open_schema(table, request, create, &id, message);
	/* opened all the same, so that it can be dropped; a query of it is refused */
	if (result == SQLITE_NOTFOUND && !create) {
		table->gone = *message;
		*message = NULL;
		return schema_parse(request->declaration != NULL ? request->declaration : "gone",
				    &table->schema, message);
	}
	if (result == SQLITE_OK)
		result = share(table, id);
	if (result != SQLITE_OK)
		return result;
	table->fields =
		sqlite3_malloc64((size_t)(table->schema.count + 1) * sizeof(*table->fields));
	return table->fields != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static int make(sqlite3 *db, struct module *module, int count, const char *const *arguments,
		bool create, sqlite3_vtab **vtab, char **message)
{
	struct request request;
	struct kv_table *table = sqlite3_malloc64(sizeof(*table));
	int result;

	if (table == NULL)
		return SQLITE_NOMEM;
	*table = (struct kv_table){.module = module,
				   .name = sqlite3_mprintf("%s", arguments[TABLE_NAME])};
	result = table->name == NULL ? SQLITE_NOMEM : check_encoding(db, message);
	if (result == SQLITE_OK) {
		result = read_request(count, arguments, &request, message);
		if (result == SQLITE_OK)
			result = open_table(table, &request, create, message);
		free_request(&request);
	}
	if (result == SQLITE_OK)
		result = declare(db, table, message);
	if (result != SQLITE_OK) {
		drop(table);
		return result;
	}
	*vtab = &table->base;
	return SQLITE_OK;
}

int table_create(sqlite3 *db, void *module, int count, const char *const *arguments,
		 sqlite3_vtab **vtab, char **message)
{
	return make(db, module, count, arguments, true, vtab, message);
}

int table_connect(sqlite3 *db, void *module, int count, const char *const *arguments,
		  sqlite3_vtab **vtab, char **message)
{
	return make(db, module, count, arguments, false, vtab, message);
}

int table_disconnect(sqlite3_vtab *vtab)
{
	drop((struct kv_table *)vtab);
	return SQLITE_OK;
}

/* DROP TABLE. SQLite reports no commit or rollback to a table that is gone, so that it is deleted
 * at once: the schema last, as it would leave rows without one. In a transaction it could be rolled
 * back; and another name of it would have rows of a later table with the same id. SQLite has no
 * message for that, only the code. */
int table_destroy(sqlite3_vtab *vtab)
{
	struct kv_table *table = (struct kv_table *)vtab;
	char *ignored = NULL;
	int result;

	if (!sqlite3_get_autocommit(table->module->db))
		return SQLITE_LOCKED;
	if (table->gone != NULL) {
		drop(table);
		return SQLITE_OK;
	}
	if (table->shared->references > 1)
		return SQLITE_LOCKED;
	key_begin(&table->key, table->shared->id);
	result = store_delete_prefix(table->store, bytes_slice(&table->key), &ignored);
	key_of_sequence(&table->key, table->shared->id);
	if (result == SQLITE_OK)
		result = store_delete(table->store, bytes_slice(&table->key));
	key_of_schema(&table->key, table->name);
	if (result == SQLITE_OK)
		result = store_delete(table->store, bytes_slice(&table->key));
	if (result == SQLITE_OK)
		result = store_commit(table->store, &ignored);
	sqlite3_free(ignored);
	/* a new table may have the same id */
	if (table->store->cache != NULL)
		cache_clear(table->store->cache);
	if (result == SQLITE_OK)
		drop(table);
	return result;
}

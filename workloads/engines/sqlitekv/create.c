/* Rewrites a workload's CREATE TABLE as CREATE VIRTUAL TABLE … USING sqlitekv, with the same
 * columns. */
#include "../sqlite/comments.h"
#include "database.h"

#include <string.h>

/* Skips a word and what follows it. False: the text has another. */
static bool take_word(const char **text, const char *word)
{
	size_t length = strlen(word);

	if (sqlite3_strnicmp(*text, word, (int)length) != 0 ||
	    strchr(" \t\r\n\f/-([\"'`;", (*text)[length]) == NULL)
		return false;
	*text = skip_comments(*text + length);
	return true;
}

bool create_is_table(const char *text)
{
	text = skip_comments(text);
	return take_word(&text, "CREATE") && take_word(&text, "TABLE");
}

/* Returns where the columns begin, after the name: a parenthesis outside quotes. */
static const char *find_columns(const char *text)
{
	for (; *text != '\0' && *text != '('; text++) {
		const char *end = *text == '['			  ? strchr(text, ']')
				  : strchr("\"'`", *text) != NULL ? strchr(text + 1, *text)
								  : text;

		if (end == NULL)
			return text + strlen(text);
		text = end;
	}
	return text;
}

char *create_virtual(struct database *database, const char *text, const char **end,
		     struct error *error)
{
	const char *name = skip_comments(text), *columns, *last, *rest;
	struct kv_database *own = database->own;
	sqlite3_stmt *statement;
	bool if_missing;
	char *sql;

	/* SQLite's parser finds its end */
	if (sqlite3_prepare_v2(database->db, text, -1, &statement, end) != SQLITE_OK) {
		sql_error(database->db, "prepare", NULL, error);
		return NULL;
	}
	sqlite3_finalize(statement);
	take_word(&name, "CREATE");
	take_word(&name, "TABLE");
	if_missing =
		take_word(&name, "IF") && take_word(&name, "NOT") && take_word(&name, "EXISTS");
	columns = find_columns(name);
	for (last = *end; last > columns && *last != ')';)
		last--;
	rest = last < *end ? skip_comments(last + 1) : last;
	/* every table with a key that is not its rowid is one */
	if (rest < *end && take_word(&rest, "WITHOUT"))
		rest = skip_comments(rest + strlen("ROWID"));
	if (last == columns || rest < *end) {
		error_set(error, "a table of %s is declared by its columns only: %.*s",
			  engine.title(), (int)(*end - text), text);
		return NULL;
	}
	sql = sqlite3_mprintf("CREATE VIRTUAL TABLE %s%.*s USING sqlitekv(%Q, form=%s, %.*s)",
			      if_missing ? "IF NOT EXISTS " : "", (int)(columns - name), name,
			      own->store->path,
			      database->options->settings[FORM] ? "direct" : "table",
			      (int)(last - columns - 1), columns + 1);
	if (sql == NULL)
		error_set(error, "no memory for a table");
	return sql;
}

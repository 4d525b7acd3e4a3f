/* Finds what may make statements unrepeatable in the schema and in changed rows, which the
 * authorizer does not report: the function of a DEFAULT or CHECK, a time zone, the largest rowid.
 * Then commits are checkpoints. */
#include <ctype.h>
#include <string.h>

#include "state.h"

/* Returns the last character of a string literal: its closing quote, or what precedes the end. */
static const char *text_end(const char *at)
{
	const char *end = strchr(at + 1, '\'');

	return end != NULL ? end : at + strlen(at) - 1;
}

/* Returns what follows the word DEFAULT or CHECK that the text begins with; NULL: it does not. */
static const char *after_word(const char *sql)
{
	if (begins_with(sql, "DEFAULT"))
		return skip_comments(sql + strlen("DEFAULT"));
	return begins_with(sql, "CHECK") ? skip_comments(sql + strlen("CHECK")) : NULL;
}

/* Returns whether a table's DEFAULT or CHECK uses a function that the authorizer would reject. */
static bool expression_taints(const char *sql)
{
	for (; *sql != '\0'; sql++) {
		const char *at = after_word(sql);
		int depth = 0;

		if (at == NULL || *at != '(')
			continue;
		for (; *(at = skip_comments(at)) != '\0'; at++) {
			char name[64];
			size_t length = 0, quotes;

			depth += *at == '(';
			depth -= *at == ')';
			if (depth == 0)
				break;
			if (*at == '\'') {
				at = text_end(at);
				continue;
			}
			/* a function's name may be quoted */
			quotes = strspn(at, "\"`[");
			while (isalnum((uint8_t)at[quotes + length]) || at[quotes + length] == '_')
				length++;
			if (length == 0)
				continue;
			snprintf(name, sizeof(name), "%.*s", (int)length, at + quotes);
			at += quotes + length - 1;
			at += strspn(at + 1, "\"`]");
			if (*skip_comments(at + 1) == '(' && !classify_repeats(name))
				return true;
		}
	}
	return false;
}

static int add_table(struct ssl *ssl, const char *name)
{
	char **tables = sqlite3_realloc64(ssl->tables, (ssl->table_count + 1) * sizeof(*tables));

	if (tables == NULL)
		return SQLITE_NOMEM;
	ssl->tables = tables;
	tables[ssl->table_count] = sqlite3_mprintf("%s", name);
	return tables[ssl->table_count++] != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

static void free_tables(struct ssl *ssl)
{
	for (size_t i = 0; i < ssl->table_count; i++)
		sqlite3_free(ssl->tables[i]);
	sqlite3_free(ssl->tables);
	ssl->tables = NULL;
	ssl->table_count = 0;
}

void classify_free(struct ssl *ssl)
{
	free_tables(ssl);
	for (size_t i = 0; i < REPEATED_PRAGMAS; i++)
		sqlite3_free(ssl->pragmas[i]);
}

/* After the largest rowid SQLite picks rowids at random. */
static int find_largest(struct ssl *ssl, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT max(rowid) FROM main.\"%w\"", table);
	sqlite3_stmt *row = NULL;
	int result;

	if (sql == NULL)
		return SQLITE_NOMEM;
	result = sqlite3_prepare_v2(ssl->db, sql, -1, &row, NULL);
	sqlite3_free(sql);
	/* a view, or a table without rowids */
	if (result == SQLITE_ERROR)
		return SQLITE_OK;
	if (result == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW &&
	    sqlite3_column_int64(row, 0) == INT64_MAX)
		ssl->always = SSL_NOT_REPEATABLE;
	return result == SQLITE_OK ? sqlite3_finalize(row) : result;
}

static void row_changed(void *argument, int operation, const char *database, const char *table,
			sqlite3_int64 rowid)
{
	struct ssl *ssl = argument;

	if (rowid == INT64_MAX)
		ssl->always = SSL_NOT_REPEATABLE;
	/* a program's statement changed a row, so its record is needed */
	if (ssl->plain != NULL)
		ssl->transaction.any = true;
}

int schema_connect(struct ssl *ssl)
{
	int result = SQLITE_OK;

	sqlite3_update_hook(ssl->db, row_changed, ssl);
	ssl->internal = true;
	for (size_t i = 0; result == SQLITE_OK && i < ssl->table_count; i++)
		result = find_largest(ssl, ssl->tables[i]);
	ssl->internal = false;
	return result;
}

static int read_schema_row(struct ssl *ssl, sqlite3_stmt *row)
{
	const char *name = (const char *)sqlite3_column_text(row, 0);
	const char *sql = (const char *)sqlite3_column_text(row, 1);

	if (name == NULL || sql == NULL)
		return SQLITE_OK;
	if (classify_text(sql, strlen(sql)) != SSL_NO_REASON || expression_taints(sql))
		ssl->schema_taint = SSL_NOT_REPEATABLE;
	if (!begins_with(sql, "CREATE TABLE") && !begins_with(sql, "CREATE VIEW"))
		return SQLITE_OK;
	return add_table(ssl, name);
}

int classify_schema(struct ssl *ssl)
{
	sqlite3_stmt *row = NULL;
	int result;

	ssl->internal = true;
	free_tables(ssl);
	ssl->schema_taint = SSL_NO_REASON;
	result = sqlite3_prepare_v2(ssl->db, "SELECT name, sql FROM main.sqlite_master", -1, &row,
				    NULL);
	while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW)
		result = read_schema_row(ssl, row);
	sqlite3_finalize(row);
	ssl->internal = false;
	ssl->schema_stale = result != SQLITE_DONE;
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* Wrappers of SQLite's C API for the engines: run a statement, read one number or text, execute a
 * transaction's text and count the rows that it returns; a failure becomes a one-line error with
 * SQLite's code and message. */
#include "sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool sql_error(sqlite3 *db, const char *operation, const char *sql, struct error *error)
{
	return error_set(error, "%s%s%s failed: SQLite error %d (%s)", operation,
			 sql != NULL ? " of " : "", sql != NULL ? sql : "",
			 sqlite3_extended_errcode(db), sqlite3_errmsg(db));
}

bool sql_error_at(const char *text, int64_t line, const char *place, struct error *error)
{
	struct error cause = *error;

	if (line == 0)
		return false;
	place += strspn(place, " \t\r\n");
	for (; text < place; text++)
		line += *text == '\n';
	return error_set(error, "line %" PRId64 " of FILE: %s", line, cause.text);
}

bool sql_run(sqlite3 *db, const char *sql, struct error *error)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ||
	       sql_error(db, "execution", sql, error);
}

sqlite3_stmt *sql_prepare(sqlite3 *db, const char *sql, struct error *error)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK)
		return statement;
	sql_error(db, "prepare", sql, error);
	return NULL;
}

bool sql_text(sqlite3 *db, const char *sql, char *answer, size_t size, bool *found,
	      struct error *error)
{
	sqlite3_stmt *statement = sql_prepare(db, sql, error);
	int result;

	*found = false;
	if (statement == NULL)
		return false;
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
		snprintf(answer, size, "%s", (const char *)sqlite3_column_text(statement, 0));
		*found = true;
	} else if (result != SQLITE_DONE && result != SQLITE_ROW) {
		sql_error(db, "step", sql, error);
		sqlite3_finalize(statement);
		return false;
	}
	sqlite3_finalize(statement);
	return true;
}

bool sql_number(sqlite3 *db, const char *sql, int64_t *value, struct error *error)
{
	sqlite3_stmt *statement = sql_prepare(db, sql, error);
	bool found;

	if (statement == NULL)
		return false;
	found = sqlite3_step(statement) == SQLITE_ROW;
	if (found)
		*value = sqlite3_column_int64(statement, 0);
	else
		sql_error(db, "step", sql, error);
	sqlite3_finalize(statement);
	return found;
}

/* Bytes of a number, as an app has it. */
enum { NUMBER_BYTES = 8 };

void sql_count_value(int type, size_t size, struct outcome *outcome)
{
	if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
		outcome->bytes += NUMBER_BYTES;
	else if (type != SQLITE_NULL)
		outcome->bytes += (int64_t)size;
}

void sql_count_row(sqlite3_stmt *statement, struct outcome *outcome)
{
	int columns = sqlite3_column_count(statement);

	outcome->rows++;
	for (int i = 0; i < columns; i++) {
		int type = sqlite3_column_type(statement, i);
		bool has_bytes = type == SQLITE_TEXT || type == SQLITE_BLOB;

		/* a text's as UTF-8, as most apps want it */
		sql_count_value(type, has_bytes ? (size_t)sqlite3_column_bytes(statement, i) : 0,
				outcome);
	}
}

bool sql_execute_one(struct database *database, const char **text, size_t length,
		     struct outcome *outcome, struct error *error)
{
	sqlite3 *db = database->db;
	sqlite3_stmt *statement;
	int result;

	result = sqlite3_prepare_v2(db, *text, (int)length, &statement, text);
	if (result != SQLITE_OK)
		return sql_error(db, "prepare", NULL, error);
	while ((result = sqlite3_step(statement)) == SQLITE_ROW)
		sql_count_row(statement, outcome);
	if (result != SQLITE_DONE) {
		sql_error(db, "step", NULL, error);
		sqlite3_finalize(statement);
		return false;
	}
	return sqlite3_finalize(statement) == SQLITE_OK || sql_error(db, "finalize", NULL, error);
}

bool sql_execute(struct database *database, sql_executor *execute, struct outcome *outcome,
		 struct error *error)
{
	const char *text = database->text, *end = text + database->length;

	/* Terminated by a NUL, the text is not copied by SQLite. */
	while (text < end) {
		const char *statement = text;

		if (!execute(database, &text, (size_t)(end - text) + 1, outcome, error))
			return sql_error_at(database->text, database->line, statement, error);
	}
	return true;
}

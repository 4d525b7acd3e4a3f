/* Executes the SQL text of a transaction, each statement by prepare, step and finalize, and counts
 * the rows that it returns. */
#include "sql.h"

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

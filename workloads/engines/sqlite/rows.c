/* Reads all rows of the workload's tables and checks the sizes of their values, counts rows, and
 * finds the largest key. */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "hooks.h"
#include "sql.h"

/* Checks one row of a scan. Reading a value's text reads its overflow pages. */
static bool check_row(const struct database *database, sqlite3_stmt *statement, struct error *error)
{
	int column = database->workload->table->value_column;

	if (column < 0)
		return true;
	(void)sqlite3_column_text(statement, column);
	return workload_check_size(database->options, sqlite3_column_int64(statement, 0),
				   sqlite3_column_bytes(statement, column), error);
}

/* Reads every page of a database with unknown tables, and counts no row. */
static bool scan_unknown(sqlite3 *db, int64_t *rows, struct error *error)
{
	char answer[128];
	bool found;

	*rows = 0;
	if (!sql_text(db, "PRAGMA quick_check(1)", answer, sizeof(answer), &found, error))
		return false;
	for (char *end = strchr(answer, '\n'); end != NULL; end = strchr(end, '\n'))
		*end = ' ';
	return strcmp(answer, "ok") == 0 || error_set(error, "quick_check: %s", answer);
}

bool sqlite_scan(struct database *database, int64_t *rows, struct error *error)
{
	const char *sql = database->workload->table->scan;
	sqlite3_stmt *statement;
	bool good = true;
	int result;

	if (sql == NULL && database->workload->table->names[0] == NULL)
		return scan_unknown(database->db, rows, error);
	if (sql == NULL)
		return sqlite_count(database, rows, error);
	statement = sql_prepare(database->db, sql, error);
	if (statement == NULL)
		return false;
	*rows = 0;
	while (good && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		good = check_row(database, statement, error);
		++*rows;
	}
	if (good && result != SQLITE_DONE)
		good = sql_error(database->db, "step", sql, error);
	sqlite3_finalize(statement);
	return good;
}

/* Counts rows in those of the workload's tables that exist. */
bool sqlite_count(struct database *database, int64_t *rows, struct error *error)
{
	char sql[128];
	int64_t found;

	*rows = 0;
	for (const char *const *name = database->workload->table->names; *name != NULL; name++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM sqlite_master WHERE name='%s' COLLATE NOCASE",
			 *name);
		if (!sql_number(database->db, sql, &found, error))
			return false;
		if (found == 0)
			continue;
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", *name);
		if (!sql_number(database->db, sql, &found, error))
			return false;
		*rows += found;
	}
	return true;
}

bool sqlite_last_key(struct database *database, int64_t *key, struct error *error)
{
	while (!sql_number(database->db, database->workload->table->last_key, key, error)) {
		/* a second writer has the lock */
		if (database->writers == NULL ||
		    (sqlite3_errcode(database->db) & 0xff) != SQLITE_BUSY)
			return false;
		clock_wait_until(clock_now() + NANOSECONDS_PER_SECOND / 1000);
	}
	return true;
}

#include "database.h"

#include <stdio.h>
#include <string.h>

#include "fail.h"

void database_fail(sqlite3 *db, const char *operation, const char *kind)
{
	fail("%s of %s failed: SQLite error %d (%s)", operation, kind, sqlite3_extended_errcode(db),
	     sqlite3_errmsg(db));
}

sqlite3 *database_open(const char *path, int flags)
{
	sqlite3 *db;

	if (sqlite3_open_v2(path, &db, flags, NULL) != SQLITE_OK) {
		if (db == NULL)
			fail("opening %s: no memory", path);
		fail("opening %s: SQLite error %d (%s)", path, sqlite3_extended_errcode(db),
		     sqlite3_errmsg(db));
	}
	sqlite3_extended_result_codes(db, 1);
	return db;
}

void database_close(sqlite3 *db)
{
	if (sqlite3_close(db) != SQLITE_OK)
		database_fail(db, "close", "the database");
}

void database_run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		database_fail(db, "execution", sql);
}

sqlite3_stmt *database_prepare(sqlite3 *db, const char *sql, const char *kind)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		database_fail(db, "prepare", kind);
	return statement;
}

int database_text(sqlite3 *db, const char *sql, char *answer, size_t size)
{
	sqlite3_stmt *statement = database_prepare(db, sql, sql);
	int result = sqlite3_step(statement);
	int found = 0;

	if (result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL) {
		snprintf(answer, size, "%s", (const char *)sqlite3_column_text(statement, 0));
		found = 1;
	} else if (result != SQLITE_DONE && result != SQLITE_ROW) {
		database_fail(db, "step", sql);
	}
	sqlite3_finalize(statement);
	return found;
}

int64_t database_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = database_prepare(db, sql, sql);
	int64_t value;

	if (sqlite3_step(statement) != SQLITE_ROW)
		database_fail(db, "step", sql);
	value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return value;
}

void database_checkpoint(sqlite3 *db)
{
	static const char sql[] = "PRAGMA wal_checkpoint";
	sqlite3_stmt *statement = database_prepare(db, sql, sql);
	int busy, frames, checkpointed;

	if (sqlite3_step(statement) != SQLITE_ROW)
		database_fail(db, "step", sql);
	busy = sqlite3_column_int(statement, 0);
	frames = sqlite3_column_int(statement, 1);
	checkpointed = sqlite3_column_int(statement, 2);
	if (busy != 0 || frames != checkpointed)
		fail("%s: busy %d, %d of %d frames done", sql, busy, checkpointed, frames);
	sqlite3_finalize(statement);
}

/* Counts and hashes all rows of a SQLite database that was opened after a power cut, and runs
 * integrity_check: what crash trials compare (trials/recovered.h). */
#include "trials/recovered.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engines/sqlite/sql.h"
#include "engines/sqlite/writers.h"

static uint64_t hash_value(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	const void *bytes = NULL;
	int64_t integer;
	double real;

	switch (type) {
	case SQLITE_INTEGER:
		integer = sqlite3_column_int64(statement, column);
		return rows_value(type, &integer, sizeof(integer));
	case SQLITE_FLOAT:
		real = sqlite3_column_double(statement, column);
		return rows_value(type, &real, sizeof(real));
	case SQLITE_NULL:
		return rows_value(type, NULL, 0);
	default:
		bytes = sqlite3_column_blob(statement, column);
		return rows_value(type, bytes, (size_t)sqlite3_column_bytes(statement, column));
	}
}

/* Adds the rows of a query. */
static bool add(sqlite3 *db, const char *sql, struct rows *rows, struct error *error)
{
	sqlite3_stmt *statement = sql_prepare(db, sql, error);
	int result;

	if (statement == NULL)
		return false;
	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		uint64_t hash = ROWS_BEGIN;

		for (int i = 0; i < sqlite3_column_count(statement); i++)
			hash = rows_word(hash, hash_value(statement, i));
		rows->hash += rows_end(hash);
		rows->count++;
	}
	if (result != SQLITE_DONE)
		sql_error(db, "step", sql, error);
	sqlite3_finalize(statement);
	return result == SQLITE_DONE;
}

/* Adds the rows of a table, if it is there. */
static bool add_known(sqlite3 *db, const char *name, struct rows *rows, struct error *error)
{
	char sql[128];
	int64_t found;

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_master WHERE name='%s'", name);
	if (!sql_number(db, sql, &found, error))
		return false;
	if (found == 0)
		return true;
	snprintf(sql, sizeof(sql), "SELECT * FROM %s NOT INDEXED", name);
	return add(db, sql, rows, error);
}

/* Returns the query of a table's rows, with their rowids if it has them; NULL without memory. */
static char *query_of(sqlite3 *db, const char *name)
{
	static const char form[] = "SELECT %Q, %s FROM \"%w\" NOT INDEXED";
	sqlite3_stmt *statement = NULL;
	char *sql = sqlite3_mprintf(form, name, "rowid, *", name);

	/* WITHOUT ROWID */
	if (sql != NULL && sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK) {
		sqlite3_free(sql);
		sql = sqlite3_mprintf(form, name, "*", name);
	}
	sqlite3_finalize(statement);
	return sql;
}

/* Statistics for SQLite's planner are not content: each release has others. */
#define OF_CONTENT "name NOT GLOB 'sqlite_stat*'"

static bool add_tables(sqlite3 *db, struct rows *rows, struct error *error)
{
	static const char tables[] =
		"SELECT name FROM sqlite_master WHERE type='table' AND " OF_CONTENT;
	sqlite3_stmt *statement = sql_prepare(db, tables, error);
	bool good = true;
	int result = SQLITE_DONE;

	if (statement == NULL)
		return false;
	while (good && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		char *sql = query_of(db, (const char *)sqlite3_column_text(statement, 0));

		good = sql != NULL ? add(db, sql, rows, error) : error_set(error, "no memory");
		sqlite3_free(sql);
	}
	if (good && result != SQLITE_DONE)
		good = sql_error(db, "step", tables, error);
	sqlite3_finalize(statement);
	return good;
}

/* Adds the content of a database with unknown tables: its schema, the header fields that belong to
 * the program, and each row of each table, prefixed by what it belongs to. */
static bool add_all(sqlite3 *db, struct rows *rows, struct error *error)
{
	static const char *const kept[] = {"user_version", "application_id"};
	char sql[128];
	int64_t value;

	if (!add(db,
		 "SELECT 'sqlite_master', type, name, tbl_name, sql FROM sqlite_master "
		 "WHERE " OF_CONTENT,
		 rows, error))
		return false;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		snprintf(sql, sizeof(sql), "PRAGMA %s", kept[i]);
		if (!sql_number(db, sql, &value, error))
			return false;
		snprintf(sql, sizeof(sql), "SELECT '%s', %" PRId64, kept[i], value);
		if (!add(db, sql, rows, error))
			return false;
	}
	return add_tables(db, rows, error);
}

bool engine_rows(struct database *database, struct rows *rows, struct error *error)
{
	*rows = (struct rows){0, 0};
	if (database->workload->table->names[0] == NULL)
		return add_all(database->db, rows, error);
	for (const char *const *name = database->workload->table->names; *name != NULL; name++)
		if (!add_known(database->db, *name, rows, error))
			return false;
	return database->writers == NULL || add_known(database->db, WRITERS_TABLE, rows, error);
}

bool engine_check(struct database *database, struct error *error)
{
	char answer[200];
	bool found;

	if (!sql_text(database->db, "PRAGMA integrity_check(1)", answer, sizeof(answer), &found,
		      error))
		return false;
	return (found && strcmp(answer, "ok") == 0) || error_set(error, "%s", answer);
}

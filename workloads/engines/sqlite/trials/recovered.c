/* SQLite: what is in a database that was opened after a power cut. */
#include "trials/recovered.h"

#include <stdio.h>
#include <string.h>

#include "engines/sqlite/sql.h"

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t size)
{
	uint64_t word;

	hash = rows_word(hash, size);
	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = rows_word(hash, word);
	}
	if (size > 0) {
		word = 0;
		memcpy(&word, bytes, size);
		hash = rows_word(hash, word);
	}
	return hash;
}

static uint64_t hash_value(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);
	uint64_t hash = rows_word(ROWS_BEGIN, (uint64_t)type);
	const void *bytes = NULL;
	int64_t integer;
	double real;

	switch (type) {
	case SQLITE_INTEGER:
		integer = sqlite3_column_int64(statement, column);
		return rows_end(hash_bytes(hash, (unsigned char *)&integer, sizeof(integer)));
	case SQLITE_FLOAT:
		real = sqlite3_column_double(statement, column);
		return rows_end(hash_bytes(hash, (unsigned char *)&real, sizeof(real)));
	case SQLITE_NULL:
		return rows_end(hash_bytes(hash, NULL, 0));
	default:
		bytes = sqlite3_column_blob(statement, column);
		return rows_end(
			hash_bytes(hash, bytes, (size_t)sqlite3_column_bytes(statement, column)));
	}
}

static bool add_table(sqlite3 *db, const char *name, struct rows *rows, struct error *error)
{
	char sql[128];
	sqlite3_stmt *statement;
	int result;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s NOT INDEXED", name);
	statement = sql_prepare(db, sql, error);
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

bool engine_rows(struct database *database, struct rows *rows, struct error *error)
{
	*rows = (struct rows){0, 0};
	for (const char *const *name = database->workload->table->names; *name != NULL; name++) {
		char sql[128];
		int64_t found;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM sqlite_master WHERE name='%s'",
			 *name);
		if (!sql_number(database->db, sql, &found, error) ||
		    (found > 0 && !add_table(database->db, *name, rows, error)))
			return false;
	}
	return true;
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

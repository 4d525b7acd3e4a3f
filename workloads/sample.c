#include "sample.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "fail.h"

void sample_populate(sqlite3 *db, const struct options *options)
{
	static const char insert[] = "INSERT INTO sample(value) VALUES(?1)";
	size_t size = (size_t)options->value_size;
	sqlite3_stmt *statement;
	char *value;

	database_run(db, "CREATE TABLE sample(id INTEGER PRIMARY KEY AUTOINCREMENT, "
			 "value TEXT NOT NULL)");
	value = malloc(size);
	if (value == NULL)
		fail("no memory for a value of %zu bytes", size);
	memset(value, 'i', size);
	statement = database_prepare(db, insert, "INSERT");
	sqlite3_bind_text(statement, 1, value, (int)size, SQLITE_STATIC);
	for (int64_t row = 0; row < options->rows; row++) {
		if (sqlite3_step(statement) != SQLITE_DONE)
			database_fail(db, "step", "INSERT");
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	free(value);
}

int64_t sample_warm(sqlite3 *db, const struct options *options)
{
	static const char select[] = "SELECT id, value FROM sample";
	sqlite3_stmt *statement = database_prepare(db, select, select);
	int64_t rows = 0;
	int result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
		/* Asking for the text is what reads its overflow pages. */
		const unsigned char *value = sqlite3_column_text(statement, 1);
		int size = sqlite3_column_bytes(statement, 1);

		if (value == NULL || size != options->value_size)
			fail("row %lld has a value of %d bytes, --value-size is %" PRId64,
			     (long long)sqlite3_column_int64(statement, 0), size,
			     options->value_size);
		rows++;
	}
	if (result != SQLITE_DONE)
		database_fail(db, "step", select);
	sqlite3_finalize(statement);
	if (rows != options->rows)
		fail("the table has %" PRId64 " rows, --rows is %" PRId64, rows, options->rows);
	return rows;
}

int64_t sample_count(sqlite3 *db)
{
	return database_number(db, "SELECT count(*) FROM sample");
}

int64_t sample_max_id(sqlite3 *db)
{
	return database_number(db, "SELECT max(id) FROM sample");
}

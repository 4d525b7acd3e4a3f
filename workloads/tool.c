#include "tool.h"

#include <inttypes.h>

#include "database.h"
#include "fail.h"

const struct workload_phase tool_phases[TOOL_PHASES] = {
	[TOOL_INSERT] = {"insert", "insert", ROWS_ADDED},
	[TOOL_UPDATE] = {"update", "update", ROWS_SAME},
	[TOOL_DELETE] = {"delete", "delete", ROWS_REMOVED},
};

void tool_check(const struct options *options, size_t first_phase)
{
	int64_t wanted = first_phase == TOOL_INSERT ? 0 : options->n;

	if (options->rows != wanted)
		fail_usage("--rows: a run of %s that begins with %s has %" PRId64
			   " rows before, not %" PRId64,
			   workload_names[options->workload], tool_phases[first_phase].name, wanted,
			   options->rows);
}

void tool_fill(sqlite3 *db, const struct options *options, const struct workload *workload)
{
	struct generator generator;
	struct statement sql;

	generator_open(&generator, workload, options);
	generator_begin_phase(&generator, TOOL_INSERT, 0);
	for (int64_t row = 0; row < options->rows; row++) {
		generator_next(&generator, &sql);
		database_run(db, sql.text);
	}
	generator_close(&generator);
}

int64_t tool_warm(sqlite3 *db, const struct options *options, const char *query)
{
	sqlite3_stmt *statement = database_prepare(db, query, query);
	int64_t rows = 0;
	int result;

	while ((result = sqlite3_step(statement)) == SQLITE_ROW)
		rows++;
	if (result != SQLITE_DONE)
		database_fail(db, "step", query);
	sqlite3_finalize(statement);
	if (rows != options->rows)
		fail("the table has %" PRId64 " rows, --rows is %" PRId64, rows, options->rows);
	return rows;
}

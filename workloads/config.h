/* Results of a run besides its times (rows, operations, file sizes), and the function that writes
 * them with the settings to config.json. */
#pragma once

#include <stdint.h>

#include "databases.h"
#include "options.h"
#include "workload.h"

/* Results for one of a run's databases. */
struct database_findings {
	int64_t transactions, changes; /* changes: rows that they changed */
	struct file_sizes before_close, after_close;
};

/* Results of a run, in addition to its settings. */
struct findings {
	int64_t operations[MAX_WORKLOAD_PHASES][OPERATION_KINDS]; /* in transactions of a kind */
	int64_t sql_bytes; /* of column values in the operations */
	int64_t rows_before, rows_after;
	struct database_findings databases[MAX_DATABASES];
	uint64_t monotonic_ns, realtime_ns; /* the two clocks, read together */
};

/* Writes config.json, the last of the result files. */
void config_write(const struct options *options, const struct findings *findings);

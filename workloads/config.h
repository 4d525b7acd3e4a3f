/* config.json: what was asked for, what it was, and that the run is whole. */
#ifndef COMMITPATH_CONFIG_H
#define COMMITPATH_CONFIG_H

#include <stdint.h>

#include "options.h"
#include "sha256.h"

struct file_sizes {
	int64_t database, journal, wal; /* bytes; 0: there is no such file */
};

/* What a run learns beside its settings. */
struct findings {
	char sql_sha256[SHA256_HEX];
	int64_t sql_bytes; /* of column values in the statements */
	int64_t rows_before, rows_after;
	struct file_sizes before_close, after_close;
	uint64_t monotonic_ns, realtime_ns; /* the two clocks, read together */
};

/* Sizes of the database file and of the journals beside it, now. */
void config_file_sizes(const char *database, struct file_sizes *sizes);

/* Writes config.json, the last of the result files. */
void config_write(const struct options *options, const struct findings *findings);

#endif

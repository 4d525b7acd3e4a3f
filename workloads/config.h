/* config.json: what was requested, what it was, and that the run is whole. */
#ifndef COMMITPATH_CONFIG_H
#define COMMITPATH_CONFIG_H

#include <stdint.h>

#include "engine.h"
#include "options.h"

/* What engine_file_sizes answered. */
struct file_sizes {
	struct file_size of[MAX_FILE_SIZES];
	size_t count;
};

/* What a run learns beside its settings. */
struct findings {
	int64_t sql_bytes; /* of column values in the operations */
	int64_t rows_before, rows_after;
	struct file_sizes before_close, after_close;
	uint64_t monotonic_ns, realtime_ns; /* the two clocks, read together */
};

/* Writes config.json, the last of the result files. */
void config_write(const struct options *options, const struct findings *findings);

#endif

/* The table of the apsys17 study: sample(id, value), every value one letter
 * repeated. Each function ends the run on an error. */
#ifndef COMMITPATH_SAMPLE_H
#define COMMITPATH_SAMPLE_H

#include <stdint.h>

#include "options.h"
#include "sqlite3.h"

/* Creates the table and inserts `rows` values of `value_size` bytes 'i'. */
void sample_populate(sqlite3 *db, const struct options *options);

/* Reads every row. Returns their number; ends the run when it is not
 * `rows` or a value is not `value_size` bytes long. */
int64_t sample_warm(sqlite3 *db, const struct options *options);

/* Number of rows. */
int64_t sample_count(sqlite3 *db);

/* The largest id, 0 when the table is empty. */
int64_t sample_max_id(sqlite3 *db);

#endif

/* The table sample(id, value) of the workloads apsys17, kv and null, each value one letter
 * repeated: the SQL of each operation, and inserts of its rows. */
#pragma once

#include "workload.h"

extern const struct table sample_table;

/* Bytes of a generator's buffer: a value. */
size_t sample_buffer_size(const struct options *options);

/* The value of all rows of a phase: a letter, `value_size` times. */
const char *sample_value(struct generator *generator, char letter);

/* Makes the insert of the row after the last. */
void sample_insert(struct generator *generator, struct transaction *transaction);

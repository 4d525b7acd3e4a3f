/* Makes the shared-memory log that an engine's preload fills with a command's transactions
 * (transactions.h), and writes transactions.csv from it when the command has ended. */
#pragma once

#include <stdint.h>

#include "json.h"

struct transaction_log;

/* Makes the log, puts its name into the environment and returns it mapped; the file is removed when
 * closed. Ends the run on an error. */
struct transaction_log *log_create(const char *directory);

/* The number of complete transactions. */
uint64_t log_count(const struct transaction_log *log);

/* Writes the paths of attached databases as an array. */
void log_attached(const struct transaction_log *log, struct json *json, const char *key);

/* Writes transactions.csv, ordered by begin, and removes the log. Ends the run on an error. */
void log_write(const char *directory, const struct transaction_log *log);

/* The runner's part of the shared log of a command's transactions: makes it before the command
 * starts, and writes transactions.csv from it afterwards. */
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

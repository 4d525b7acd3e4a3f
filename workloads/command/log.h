/* The runner's side of the log of a command's transactions (transactions.h). */
#ifndef COMMITPATH_LOG_H
#define COMMITPATH_LOG_H

#include <stdint.h>

#include "json.h"

struct transaction_log;

/* Makes the log, names it in the environment and returns it mapped; its file is gone when it is
 * closed. Ends the run on an error. */
struct transaction_log *log_create(const char *directory);

/* How many of its transactions are whole. */
uint64_t log_count(const struct transaction_log *log);

/* The paths of databases that were attached, an array of texts. */
void log_attached(const struct transaction_log *log, struct json *json, const char *key);

/* Writes transactions.csv, in the order in which they began, and removes the log. Ends the run on
 * an error. */
void log_write(const char *directory, const struct transaction_log *log);

#endif

/* Statements on either kind of database (struct target). */
#pragma once

#include "load.h"

union statement {
	struct ssl_stmt *ours;
	sqlite3_stmt *plain;
};

/* All statements of a text. */
int target_run(const struct target *target, const char *sql);

int target_prepare(struct target *target, const char *sql, union statement *made);
int target_bind_number(struct target *target, union statement to, int index, int64_t value);

/* A statement with a number, if it has ?1, and a value that `value` chooses, if it has ?2. */
int run_statement(struct target *target, const char *sql, int64_t number, uint64_t value);
int run_plain(struct target *target, const char *sql);

/* Transactions of all kinds, each known by seed and number, on a database with a statement log and,
 * for comparison, on one in memory by SQLite alone; and what is in either. */
#pragma once

#include "ssl.h"

struct target {
	struct ssl *ssl; /* NULL: SQLite alone */
	sqlite3 *db;
	sqlite3_stmt *reading; /* a SELECT that is left open */
};

/* Which kinds of transactions there are. */
enum mix {
	MIX_ALL,
	MIX_PLAIN,  /* all that can be logged, and answers the same each time */
	MIX_VALUES, /* values that their texts do not give */
	MIX_RANDOM, /* random numbers and time, in columns that are compared */
	MIX_BLOBS,  /* incremental writes of blobs */
	MIX_SAME,   /* updates whose records are of one size */
	MIXES,
};
extern const char *const mixes[MIXES];

/* Opens a database with a log, which is made if it is not there. */
bool load_open(struct target *target, const char *name, const struct ssl_options *options,
	       struct error *error);
int load_create(const struct target *target);

/* SQLITE_OK: it is committed, or was rolled back as it is to be. */
int load_transaction(struct target *target, enum mix mix, uint64_t seed, int64_t number);

void load_end_reading(struct target *target);

/* A hash of all rows; coarse: without what differs each time. No call to the disk counts. */
uint64_t load_hash(sqlite3 *db, bool coarse);

/* Whether integrity_check returns ok; neither. */
bool load_intact(sqlite3 *db);

/* Prints counts by their names, as a member of a JSON object behind another one. */
void load_print(const char *key, const char *const *names, const int64_t *counts, int size);

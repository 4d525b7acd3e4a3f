/* What SQLite alone makes of a life of transactions (load.h), which is what a database with a log
 * must have. */
#ifndef COMMITPATH_TEST_MODEL_H
#define COMMITPATH_TEST_MODEL_H

#include "load.h"

/* An event that is no transaction's number: the database was opened again. */
enum { REOPENED = -1 };

/* The schema in one transaction: it is there, or not. */
int model_make(struct target *target);

/* A coarse hash of all rows after events. */
uint64_t model_hash(uint64_t seed, bool made, const int64_t *events, int count);

#endif

/* What SQLite alone makes of a life of transactions (load.h), which is what a database with a log
 * must have; and the states of it that a power cut may bring back: of a log that is not synced at
 * each commit those since its last checkpoint. */
#pragma once

#include "load.h"

/* An event that is no transaction's number: the database was opened again. */
enum { REOPENED = -1 };

/* What is a connection's alone is gone then. */
extern const char model_reopened[];

/* SQLite alone, in memory. */
sqlite3 *model_open(void);

/* The schema in one transaction: it is there, or not. */
int model_make(struct target *target);

/* A coarse hash of all rows after events. */
uint64_t model_hash(uint64_t seed, bool made, const int64_t *events, int count);

/* Makes one database the other. */
void model_copy(sqlite3 *to, sqlite3 *from);

struct history {
	struct state {
		uint64_t full;	/* hash of ours */
		sqlite3 *plain; /* SQLite's own copy */
	} *states;
	int count;
	int64_t checkpoints; /* of ours when the first of them was made */
};

void history_free(struct history *history);

/* Both are in a state that is acknowledged; where ours made a checkpoint since the one before, or
 * was opened, all earlier ones are over. */
void history_note(struct history *history, const struct ssl *ours, sqlite3 *plain, uint64_t full);

/* How many acknowledged states are lost where ours has that hash, and brings `plain` to what it is
 * then; -1: it is none of them. */
int64_t history_lost(const struct history *history, sqlite3 *plain, uint64_t full);

/* States of a database that a power cut may bring back: of a log that is not synced at each commit
 * those since its last checkpoint. */
#ifndef COMMITPATH_TEST_HISTORY_H
#define COMMITPATH_TEST_HISTORY_H

#include "load.h"

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

/* Makes one database the other. */
void history_copy(sqlite3 *to, sqlite3 *from);

#endif

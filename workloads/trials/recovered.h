/* What an engine says of a database that it has opened after a power cut: the functions below, in
 * the C files of its folder trials/. */
#ifndef COMMITPATH_RECOVERED_H
#define COMMITPATH_RECOVERED_H

#include <stdbool.h>
#include <stdint.h>

#include "engine.h"

struct rows {
	int64_t count;
	/* The sum of the rows' hashes, modulo 2^64, so that their order does not matter. Of a row:
	 * each value, in the order of the columns, is a word for its type (1 integer, 2 real, 3
	 * text, 4 blob, 5 NULL), one for its bytes and its bytes in words, the last one filled up
	 * with zeros; `rows_word` takes them in, beginning with ROWS_BEGIN, and `rows_end` closes
	 * the value. The values' hashes are taken in and closed likewise. analysis/crash/hashes.py
	 * has the same. */
	uint64_t hash;
};

#define ROWS_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t rows_word(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t rows_end(uint64_t hash)
{
	hash = (hash ^ (hash >> 32)) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ (hash >> 29);
}

/* How the engine recovered the database when it opened it. */
struct recovery {
	char met[32];	  /* what it met, in words without a comma */
	int64_t replayed; /* transactions of its log that were executed again */
};

/* False: the engine does not tell. */
bool engine_recovery(struct database *database, struct recovery *recovery);

/* Reads every row of the workload's tables, and where it knows none all that there is. A table that
 * is not there has no rows. */
bool engine_rows(struct database *database, struct rows *rows, struct error *error);

/* Has the engine check the whole database; an error says what it found. */
bool engine_check(struct database *database, struct error *error);

#endif

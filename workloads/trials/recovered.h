/* Functions that crash trials call on a database opened after a crash: report its recovery, count
 * and hash all rows, check it. An engine with SQL implements them in its folder trials/;
 * keys/recovered.c has those of all others. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine.h"

struct rows {
	int64_t count;
	/* The sum of the rows' hashes, modulo 2^64, independent of their order. A value, in the
	 * order of the columns, is a word for its type (1 integer, 2 real, 3 text, 4 blob, 5
	 * NULL), one for its size, and its bytes in words, the last padded with zeros;
	 * `rows_word` adds them, beginning with ROWS_BEGIN, and `rows_end` closes the value. The
	 * values' hashes are added and closed in the same way. A key and its value are an integer
	 * and a text. model/expected_state/hashes.py has the same algorithm. */
	uint64_t hash;
};

enum { ROWS_INTEGER = 1, ROWS_TEXT = 3 };
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

/* Returns the hash of a value. */
static inline uint64_t rows_value(int type, const void *value, size_t size)
{
	uint64_t hash = rows_word(rows_word(ROWS_BEGIN, (uint64_t)type), size), word;
	const unsigned char *bytes = value;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = rows_word(hash, word);
	}
	if (size > 0) {
		word = 0;
		memcpy(&word, bytes, size);
		hash = rows_word(hash, word);
	}
	return rows_end(hash);
}

/* How the engine recovered the database on opening it. */
struct recovery {
	char met[32];	  /* the state found, in words without a comma */
	int64_t replayed; /* transactions of its log executed again */
};

/* False: the engine does not report it. */
bool engine_recovery(struct database *database, struct recovery *recovery);

/* Reads every row of the workload's tables, or everything if they are unknown. A missing table has
 * no rows. */
bool engine_rows(struct database *database, struct rows *rows, struct error *error);

/* Has the engine check the whole database; an error has its findings. */
bool engine_check(struct database *database, struct error *error);

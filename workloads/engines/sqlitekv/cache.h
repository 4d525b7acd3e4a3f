/* The query cache of a database: the rows that a key, or the first columns of one, led to, so that
 * a repeated query reads nothing from LevelDB. */
#pragma once

#include "bytes.h"

/* A query, of all columns. Its key is a key of LevelDB, which has the table and the argument. */
enum cache_query {
	CACHE_ROW,    /* the row of a whole key: its value, empty if there is none */
	CACHE_PREFIX, /* the rows of a key's first columns; its key also has the table's epoch */
};

enum { CACHE_SLAB = 32768, CACHE_LEAST = 2 * CACHE_SLAB };

struct cache;

struct cache_counts {
	int64_t hits, misses, evicted;
};

/* `size`: of all entries with their heads; the hash table has as much as a sixteenth of it more.
 * NULL: no memory. */
struct cache *cache_create(size_t size);
void cache_free(struct cache *cache);
/* `result` is valid until the next call. False: it is not there. */
bool cache_find(struct cache *cache, enum cache_query query, struct slice key,
		struct slice *result);
/* Does nothing with a result that is larger than a slab. */
void cache_add(struct cache *cache, enum cache_query query, struct slice key, struct slice result);
void cache_erase(struct cache *cache, enum cache_query query, struct slice key);
void cache_clear(struct cache *cache);
struct cache_counts cache_counts(const struct cache *cache);

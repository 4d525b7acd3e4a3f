/* Header of the engine sqlitekv's own files in the driver (engine.c, create.c, settings.c): indexes
 * of its settings, its data in struct database, and their functions. */
#pragma once

#include "direct.h"
#include "hooks.h"
#include "kv.h"
#include "sql.h"

/* For leveldb/calls.h. */
#define STORE(call) leveldb_##call
#define STORE_NAME "leveldb"

#include "leveldb/calls.h"

/* Indexes in engine.settings. */
enum { SYNC, QUERY_CACHE, QUERY_CACHE_PLACE, FORM, INDEX_BLOCKS };

/* A database's part that SQLite's struct does not have (its `own`). */
struct kv_database {
	struct store *store;
	bool before_compiler; /* a statement is looked up in the cache before it is compiled */
	size_t loaded;	      /* bytes of rows in the transaction that loads them */
};

/* create.c: CREATE TABLE in a workload is that of a virtual table. */
/* Whether a text begins with it. */
bool create_is_table(const char *text);
/* Returns the statement for the virtual table, from sqlite3_malloc; NULL: an error. `end` is after
 * the statement. */
char *create_virtual(struct database *database, const char *text, const char **end,
		     struct error *error);

/* settings.c: hooks of engine.h */
extern const struct option kv_settings[];
bool kv_read_setting(struct database *database, size_t index, char *answer, size_t size,
		     struct error *error);
bool kv_read_properties(struct database *database, struct error *error);
void kv_write_properties(struct json *json, size_t number);
void kv_write_version(struct json *json);
/* Keeps a database's counters when it is closed. */
void kv_keep_counts(size_t number, const struct cache *cache);

/* struct database of the engine lmdb: the environment, whose unnamed database has the rows, and
 * the open transaction; and the functions that its C files share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lmdb.h>

#include "engine.h"
#include "key_values/key_values.h"

/* Numbers in engine.settings. */
enum { MAP_SIZE, NOSYNC, NOMETASYNC, WRITEMAP, MAPASYNC };

struct database {
	MDB_env *environment;
	MDB_dbi rows;
	MDB_txn *transaction; /* NULL: none is open */
	enum engine_use use;
	struct key_values key_values;
};

/* Returns whether a call succeeded; sets the error otherwise. */
bool call_succeeded(const char *operation, int result, struct error *error);

/* Begins a transaction, and ends it: commits it if it `succeeded` so far. */
bool transaction_begin(struct database *database, bool writes, struct error *error);
bool transaction_end(struct database *database, bool succeeded, struct error *error);

/* The flags of mdb_env_open that the settings request. */
unsigned int settings_flags(const struct options *options);

/* Shared by engines with the C API of LevelDB or RocksDB: sets an error from the store's message,
 * removes a database, and writes the number of tables on each level to config.json. Such an engine
 * lists leveldb/calls.c in ENGINE_SHARED, and -I of its folder in ENGINE_CPPFLAGS. Its database.h
 * defines STORE(call), the call's name with the store's prefix, and STORE_NAME, which the store's
 * properties begin with, and then includes this. */
#pragma once

#include <stdbool.h>

#include "engine.h"

/* Returns whether the store had an error, sets it and frees its text. */
bool call_failed(const char *operation, char *message, struct error *error);

/* The hook remove of engine.h. */
bool calls_remove(const char *path, struct error *error);

enum { LEVELS = 7 };

/* Numbers of tables. */
struct levels {
	char tables[LEVELS][24];
};

/* Reads them as the store reports them, and writes them as members of the open object. */
bool levels_read(STORE(t) * db, struct levels *levels, struct error *error);
void levels_write(struct json *json, const struct levels *levels);

/* The tables of a LevelDB database by their levels, as it reports them. */
#pragma once

#include <stdbool.h>

#include <leveldb/c.h>

#include "error.h"
#include "json.h"

enum { LEVELS = 7 };

/* Numbers of tables. */
struct levels {
	char tables[LEVELS][24];
};

bool levels_read(leveldb_t *db, struct levels *levels, struct error *error);

/* Writes them as members of the open object. */
void levels_write(struct json *json, const struct levels *levels);

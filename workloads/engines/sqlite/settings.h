/* SQLite's settings: their options, and setting and reading them in a connection. */
#ifndef COMMITPATH_SQLITE_SETTINGS_H
#define COMMITPATH_SQLITE_SETTINGS_H

#include "error.h"
#include "options.h"
#include "sqlite3.h"

/* Indexes in engine_settings. */
enum {
	JOURNAL_MODE,
	SYNCHRONOUS,
	PAGE_SIZE,
	CACHE_SIZE,
	WAL_AUTOCHECKPOINT,
	JOURNAL_SIZE_LIMIT,
};

/* Sets every requested pragma except the page size, which is a property of the file. */
bool settings_apply(sqlite3 *db, const struct options *options, struct error *error);

#endif

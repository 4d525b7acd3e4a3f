/* SQLite's settings: their options, and setting and reading them in a connection. */
#ifndef COMMITPATH_SQLITE_SETTINGS_H
#define COMMITPATH_SQLITE_SETTINGS_H

#include "engine.h"
#include "sqlite3.h"

/* Indexes in engine.settings. */
enum {
	JOURNAL_MODE,
	SYNCHRONOUS,
	PAGE_SIZE,
	CACHE_SIZE,
	WAL_AUTOCHECKPOINT,
	JOURNAL_SIZE_LIMIT,
};

extern const struct option sqlite_settings[];

bool sqlite_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error);
void sqlite_write_properties(struct json *json, size_t number);

/* Sets every requested pragma except the page size, which is a property of the file. */
bool settings_apply(sqlite3 *db, const struct options *options, struct error *error);

#endif

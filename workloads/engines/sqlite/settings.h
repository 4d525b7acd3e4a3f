/* The settings of the engine sqlite (pragmas, a held reader, a second writer, checksums): their
 * indexes, and functions that set them in a connection and read them back. */
#pragma once

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
	MMAP_SIZE,
	AUTO_VACUUM,
	SECURE_DELETE,
	TEMP_STORE,
	LOCKING_MODE,
	CACHE_SPILL,
	HELD_READER,
	WRITERS,
	BUSY_TIMEOUT,
	CHECKSUMS,
};

extern const struct option sqlite_settings[];

bool sqlite_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error);
void sqlite_write_properties(struct json *json, size_t number);

/* Registers the checksum VFS if requested, before a database is opened; its calls are logged below
 * it. */
bool settings_of_process(const struct options *options, struct error *error);

/* Sets the page size, auto_vacuum and room for checksums of a database without tables: properties
 * of the file. */
bool settings_of_file(sqlite3 *db, const struct options *options, struct error *error);

/* Opens a second connection with a read transaction that lasts, if requested. */
bool settings_hold_reader(struct database *database, struct error *error);

/* Sets the other requested pragmas. From MMAP_SIZE on, those at SQLite's own default are not set.
 */
bool settings_apply(sqlite3 *db, const struct options *options, struct error *error);

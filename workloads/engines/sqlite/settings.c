/* The option table of the engine sqlite: sets the requested pragmas of a connection, the checksum
 * VFS and a second connection that holds a read transaction, and reads effective values back. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "page_settings.h"
#include "sql.h"
#include "writers.h"

/* SQLITE_MAX_MMAP_SIZE; SQLite takes a larger size for it. */
enum { ANSWER_SIZE = 64, MOST_MAPPED = 0x7fff0000 };

static const char *const journal_modes[] = {"delete", "truncate", "persist", "wal",
					    "memory", "off",	  NULL};

/* In SQLite's numbering, as returned by PRAGMA synchronous. */
static const char *const synchronous_levels[] = {"off", "normal", "full", "extra", NULL};

/* The next three in SQLite's numbering, as their pragmas return it. */
static const char *const auto_vacuums[] = {"none", "full", "incremental", NULL};
static const char *const secure_deletes[] = {"off", "on", "fast", NULL};
static const char *const temp_stores[] = {"default", "file", "memory", NULL};

static const char *const locking_modes[] = {"normal", "exclusive", NULL};

/* PRAGMA cache_spill returns 0, or a number of pages. */
static const char *const switches[] = {"off", "on", NULL};

static const char *const no_yes[] = {"no", "yes", NULL};

static const char *const counts[] = {"1", "2", NULL};

/* extensions/extensions.c */
int commitpath_checksums(void);

const struct option sqlite_settings[] = {
	{SETTING("journal-mode", "journal_mode", JOURNAL_MODE), WORD("MODE", journal_modes),
	 .help = "PRAGMA journal_mode"},
	{SETTING("synchronous", "synchronous", SYNCHRONOUS), WORD("LEVEL", synchronous_levels),
	 .help = "PRAGMA synchronous"},
	PAGE_SIZE_SETTING,
	CACHE_SIZE_SETTING,
	{SETTING("wal-autocheckpoint", "wal_autocheckpoint", WAL_AUTOCHECKPOINT),
	 INTEGER("FRAMES", 0, INT32_MAX), .preset = "1000",
	 .help = "PRAGMA wal_autocheckpoint; 0: never"},
	{SETTING("journal-size-limit", "journal_size_limit", JOURNAL_SIZE_LIMIT),
	 INTEGER("BYTES", -1, INT64_MAX), .preset = "-1",
	 .help = "PRAGMA journal_size_limit; -1: none"},
	{SETTING("mmap-size", "mmap_size", MMAP_SIZE), INTEGER("BYTES", 0, MOST_MAPPED),
	 .preset = "0", .help = "PRAGMA mmap_size"},
	{SETTING("auto-vacuum", "auto_vacuum", AUTO_VACUUM), WORD("KIND", auto_vacuums),
	 .preset = "none", .at_populate = true, .help = "PRAGMA auto_vacuum of the database"},
	{SETTING("secure-delete", "secure_delete", SECURE_DELETE), WORD("HOW", secure_deletes),
	 .preset = "off", .help = "PRAGMA secure_delete"},
	{SETTING("temp-store", "temp_store", TEMP_STORE), WORD("WHERE", temp_stores),
	 .preset = "default", .help = "PRAGMA temp_store"},
	{SETTING("locking-mode", "locking_mode", LOCKING_MODE), WORD("MODE", locking_modes),
	 .preset = "normal", .help = "PRAGMA locking_mode"},
	{SETTING("cache-spill", "cache_spill", CACHE_SPILL), WORD("SWITCH", switches),
	 .preset = "on", .help = "PRAGMA cache_spill"},
	{SETTING("held-reader", "held_reader", HELD_READER), WORD("SWITCH", no_yes), .preset = "no",
	 .help = "a second connection in a read transaction during the run"},
	{SETTING("writers", "writers", WRITERS), WORD("COUNT", counts), .preset = "1",
	 .help = "2: a thread with a connection of its own writes, too"},
	{SETTING("busy-timeout", "busy_timeout", BUSY_TIMEOUT), INTEGER("MS", 0, INT32_MAX),
	 .preset = "0", .help = "PRAGMA busy_timeout"},
	{SETTING("checksums", "checksums", CHECKSUMS), WORD("SWITCH", no_yes), .preset = "no",
	 .at_populate = true, .help = "the checksum VFS, and its 8 bytes in each page"},
	{.name = NULL},
};

/* PRAGMA synchronous and others return the number of their word. */
static void number_to_word(const struct option *option, char *answer, size_t size)
{
	char *end;
	long index = strtol(answer, &end, 10);

	if (option->words == NULL || end == answer || *end != '\0')
		return;
	for (long i = 0; option->words[i] != NULL; i++)
		if (i == index)
			snprintf(answer, size, "%s", option->words[i]);
}

/* Returns whether the checksum VFS verifies pages and the database has the room for checksums. */
static bool read_checksums(sqlite3 *db, bool *checked, struct error *error)
{
	char verifies[ANSWER_SIZE], reserved[ANSWER_SIZE];
	bool found = false;

	*checked = false;
	if (strcmp(sqlite3_vfs_find(NULL)->zName, "cksmvfs") != 0)
		return true;
	if (!sql_text(db, "PRAGMA checksum_verification", verifies, sizeof(verifies), &found,
		      error) ||
	    !sql_text(db,
		      "SELECT hex(substr(data, 21, 1)) FROM sqlite_dbpage('main') WHERE pgno = 1",
		      reserved, sizeof(reserved), &found, error))
		return false;
	*checked = found && strcmp(verifies, "1") == 0 && strcmp(reserved, "08") == 0;
	return true;
}

bool sqlite_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	const struct option *option = &engine.settings[index];
	char sql[ANSWER_SIZE];
	bool found;

	/* after the last transaction; a pragma would find the database locked */
	writers_stop(database);
	if (index == HELD_READER) {
		found = database->reader != NULL && !sqlite3_get_autocommit(database->reader);
		snprintf(answer, size, "%s", no_yes[found]);
		return true;
	}
	if (index == WRITERS) {
		snprintf(answer, size, "%s", counts[database->writers != NULL]);
		return true;
	}
	if (index == CHECKSUMS) {
		if (!read_checksums(database->db, &found, error))
			return false;
		snprintf(answer, size, "%s", no_yes[found]);
		return true;
	}
	snprintf(sql, sizeof(sql), "PRAGMA %s", option->key);
	if (!sql_text(database->db, sql, answer, size, &found, error))
		return false;
	if (!found)
		return error_set(error, "%s: %s has no such pragma", option->key, engine.title());
	if (index == CACHE_SPILL && strcmp(answer, "0") != 0)
		snprintf(answer, size, "1");
	number_to_word(option, answer, size);
	return true;
}

/* Sets a pragma to its requested value. */
static bool set(sqlite3 *db, const struct options *options, size_t index, struct error *error)
{
	const struct option *option = &engine.settings[index];
	char sql[2 * ANSWER_SIZE], value[ANSWER_SIZE];

	snprintf(sql, sizeof(sql), "PRAGMA %s=%s", option->key,
		 option_value_text(option, options, value, sizeof(value)));
	return sql_run(db, sql, error);
}

static bool at_default(const struct options *options, size_t index)
{
	const struct option *option = &engine.settings[index];
	char value[ANSWER_SIZE];

	return strcmp(option_value_text(option, options, value, sizeof(value)), option->preset) ==
	       0;
}

bool settings_of_process(const struct options *options, struct error *error)
{
	return at_default(options, CHECKSUMS) || commitpath_checksums() == SQLITE_OK ||
	       error_set(error, "checksums: %s has no checksum VFS", engine.title());
}

bool settings_of_file(sqlite3 *db, const struct options *options, struct error *error)
{
	/* The VFS knows the room from the first page: written last, the pages before it that left
	 * the cache would have no checksum. */
	static const char room[] = "SELECT reserve_checksums('main'); PRAGMA user_version=0";

	return set(db, options, PAGE_SIZE, error) &&
	       (at_default(options, AUTO_VACUUM) || set(db, options, AUTO_VACUUM, error)) &&
	       (at_default(options, CHECKSUMS) || sql_run(db, room, error));
}

bool settings_apply(sqlite3 *db, const struct options *options, struct error *error)
{
	int64_t ignored;

	/* Before the first read: a WAL is then opened without shared memory. */
	if (!at_default(options, LOCKING_MODE) && !set(db, options, LOCKING_MODE, error))
		return false;
	/* Before this first read the connection does not know the file, and returns its own
	 * defaults. */
	if (!sql_number(db, "SELECT count(*) FROM sqlite_master", &ignored, error))
		return false;
	for (size_t i = 0; i < engine_setting_count(); i++) {
		if (i == PAGE_SIZE || i == AUTO_VACUUM || i == LOCKING_MODE)
			continue;
		if (i == HELD_READER || i == WRITERS || i == CHECKSUMS)
			continue;
		/* so that a default run makes no statement more than one of an older driver */
		if (i >= MMAP_SIZE && at_default(options, i))
			continue;
		if (!set(db, options, i, error))
			return false;
	}
	return true;
}

bool settings_hold_reader(struct database *database, struct error *error)
{
	int64_t ignored;

	if (at_default(database->options, HELD_READER))
		return true;
	if (sqlite3_open_v2(database->path, &database->reader, SQLITE_OPEN_READWRITE, NULL) !=
	    SQLITE_OK)
		return error_set(error, "opening %s for the held reader: %s", database->path,
				 database->reader != NULL ? sqlite3_errmsg(database->reader)
							  : "no memory");
	/* the transaction begins with the first read */
	return sql_run(database->reader, "BEGIN", error) &&
	       sql_number(database->reader, "SELECT count(*) FROM sqlite_master", &ignored, error);
}

void sqlite_write_properties(struct json *json, size_t number)
{
	json_begin(json, "pragmas", '{');
	sqlite_write_pragmas(json, number);
	json_end(json, '}');
	if (number == ALL_DATABASES)
		writers_report(json);
}

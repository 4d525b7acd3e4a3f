/* SQLite's settings: their options, and setting and reading them in a connection. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"
#include "page_settings.h"
#include "sql.h"

enum { ANSWER_SIZE = 64 };

static const char *const journal_modes[] = {"delete", "truncate", "persist", "wal",
					    "memory", "off",	  NULL};

/* In SQLite's numbering, as returned by PRAGMA synchronous. */
static const char *const synchronous_levels[] = {"off", "normal", "full", "extra", NULL};

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
	{.name = NULL},
};

/* PRAGMA synchronous returns the number of its word. */
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

bool sqlite_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	const struct option *option = &engine.settings[index];
	char sql[ANSWER_SIZE];
	bool found;

	snprintf(sql, sizeof(sql), "PRAGMA %s", option->key);
	if (!sql_text(database->db, sql, answer, size, &found, error))
		return false;
	if (!found)
		return error_set(error, "%s: %s has no such pragma", option->key, engine.title());
	number_to_word(option, answer, size);
	return true;
}

bool settings_apply(sqlite3 *db, const struct options *options, struct error *error)
{
	char sql[2 * ANSWER_SIZE], value[ANSWER_SIZE];
	int64_t ignored;

	/* Before this first read the connection does not know the file, and returns its own
	 * defaults. */
	if (!sql_number(db, "SELECT count(*) FROM sqlite_master", &ignored, error))
		return false;
	for (size_t i = 0; i < engine_setting_count(); i++) {
		const struct option *option = &engine.settings[i];

		if (i == PAGE_SIZE)
			continue;
		snprintf(sql, sizeof(sql), "PRAGMA %s=%s", option->key,
			 option_value_text(option, options, value, sizeof(value)));
		if (!sql_run(db, sql, error))
			return false;
	}
	return true;
}

void sqlite_write_properties(struct json *json, size_t number)
{
	json_begin(json, "pragmas", '{');
	sqlite_write_pragmas(json, number);
	json_end(json, '}');
}

/* The engine SQLite/PPL, a SQLite that logs page changes, in the driver: its names, file roles and
 * option table (in addition to the options of any log), and its own numbers in config.json. The
 * hooks are those shared with SQLite/SSL (engines/ssl/driver.c). */
#include "engine.h"

#include "driver.h"
#include "hooks.h"
#include "log.h"
#include "log_settings.h"
#include "pages.h"

const char driver_name[] = "ppl", driver_product[] = "SQLite/PPL";
const struct driver_file driver_files[] = {
	{"database", ""}, {"wal", "-wal"}, {"merge", "-merge"}, {"pages", "-ppl"}};
const size_t driver_file_count = sizeof(driver_files) / sizeof(driver_files[0]);

const char *const driver_file_roles[] = {
	SQLITE_FILE_ROLES, [ROLE_OWN] = "pages", [ROLE_OWN_WAL] = "merge"};
const struct log_engine log_engine = {"-ppl", "-merge", true};

/* Indexes in engine.settings, after those of driver.h. */
enum { SECTOR_SIZE = DRIVER_SETTINGS, PAGE_RECORD };

/* In the order of enum page_record. */
static const char *const records[] = {"bytes", "cells", NULL};

const struct option driver_settings[] = {
	LOG_SETTINGS,
	{SETTING("sector-size", "sector_size", SECTOR_SIZE),
	 INTEGER("BYTES", LEAST_SECTOR, LARGEST_SECTOR), .power_of_two = true, .preset = "512",
	 .help = "part of the log per page, a power of two"},
	{SETTING("page-record", "page_record", PAGE_RECORD), WORD("KIND", records),
	 .preset = "cells", .help = "how a changed page is logged"},
	{.name = NULL},
};

void driver_own_options(const struct options *options, struct ssl_options *made)
{
	made->sector = options->settings[SECTOR_SIZE];
	made->record = (int)options->settings[PAGE_RECORD];
}

void driver_write_own(struct json *json, const struct ssl_stats *stats)
{
	json_digits(json, "page records", stats->records);
	json_digits(json, "merged pages", stats->merged_pages);
}

int database_run(struct database *database, const char *sql)
{
	return sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

bool driver_execute(struct database *database, struct outcome *outcome, struct error *error)
{
	return sql_execute(database, sql_execute_one, outcome, error);
}

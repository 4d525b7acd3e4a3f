/* The option table of the engine SQLite/PPL (sector size, kind of page record, and the options of
 * any log), and its own numbers in config.json. */
#include "driver.h"
#include "log_settings.h"
#include "pages.h"

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
	driver_write_number(json, "page records", stats->records);
	driver_write_number(json, "merged pages", stats->merged_pages);
}

/* Interface between the shared hooks of the engines ssl and ppl (driver.c, driver_stats.c) and each
 * engine's own names, file suffixes, settings and statistics. */
#pragma once

#include "hooks.h"
#include "sql.h"
#include "ssl.h"

/* Indexes in engine.settings; these come first. */
enum {
	PAGE_SIZE,
	CACHE_SIZE,
	LOG_SIZE,
	DIRTY_PAGES,
	LOG_MEDIUM,
	PCM_LINE,
	PCM_WRITE_NS,
	DRIVER_SETTINGS,
};

extern const char driver_product[];
/* The last one is the log. */
extern const struct driver_file {
	const char *role, *suffix;
} driver_files[];
extern const size_t driver_file_count;

/* Sets the engine's own requested settings. */
void driver_own_options(const struct options *options, struct ssl_options *made);

/* Executes what was rendered. */
bool driver_execute(struct database *database, struct outcome *outcome, struct error *error);

/* Parts of engine.h's table. */
extern const char driver_name[];
extern const char *const driver_file_roles[];
extern const struct option driver_settings[];

/* Keeps a database's statistics when it is closed. */
void driver_keep(size_t number, struct ssl_stats stats);

/* Writes them as the object `properties` (driver_stats.c), with the engine's own members. */
void driver_write_properties(struct json *json, size_t number);
void driver_write_own(struct json *json, const struct ssl_stats *stats);

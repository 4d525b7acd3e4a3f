/* Functions that each engine with driver.c implements. */
#ifndef COMMITPATH_SSL_DRIVER_H
#define COMMITPATH_SSL_DRIVER_H

#include "sql.h"
#include "ssl.h"

/* Indexes in engine_settings; these come first. */
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

extern const char driver_title[];
/* The last one is the log. */
extern const struct driver_file {
	const char *role, *suffix;
} driver_files[];
extern const size_t driver_file_count;

/* Sets the engine's own requested settings. */
void driver_own_options(const struct options *options, struct ssl_options *made);

/* Executes a text and returns only its result code. */
int driver_run(struct database *database, const char *sql);

/* Executes what was rendered. */
bool driver_execute(struct database *database, struct error *error);

/* Keeps a database's statistics when it is closed. */
void driver_keep(size_t number, struct ssl_stats stats);

/* Returns them; ALL_DATABASES: the sum over all databases, or the maximum for maxima. */
struct ssl_stats driver_stats(size_t number);

/* Begin the object with them, left open for the engine's own members, and end it. */
void driver_write_begin(struct json *json, size_t number);
void driver_write_end(struct json *json, size_t number);
void driver_write_number(struct json *json, const char *key, int64_t number);

#endif

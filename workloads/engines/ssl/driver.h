/* What each engine that driver.c is of has of its own. */
#ifndef COMMITPATH_SSL_DRIVER_H
#define COMMITPATH_SSL_DRIVER_H

#include "sql.h"
#include "ssl.h"

/* Numbers in engine_settings, of which these come first. */
enum { PAGE_SIZE, CACHE_SIZE };

extern const char driver_title[];
extern const struct driver_file {
	const char *role, *suffix;
} driver_files[];
extern const size_t driver_file_count;

/* What is requested, as ssl_open takes it. */
struct ssl_options driver_options(const struct options *options);

/* Executes a text, of which nothing is wanted but its result code. */
int driver_run(struct database *database, const char *sql);

/* Of the database that was closed last. */
const struct ssl_stats *driver_stats(void);

/* Writes them as members of the object that is open. */
void driver_write(struct json *json);
void driver_write_number(struct json *json, const char *key, int64_t number);

#endif

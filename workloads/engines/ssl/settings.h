/* What can be requested of it. */
#ifndef COMMITPATH_SSL_SETTINGS_H
#define COMMITPATH_SSL_SETTINGS_H

#include "engine.h"
#include "ssl.h"

/* Numbers in engine_settings. */
enum {
	PAGE_SIZE,
	CACHE_SIZE,
	LOG_SIZE,
	LOG_FULL,
	DIRTY_PAGES,
	LOG_MEDIUM,
	PCM_LINE,
	PCM_WRITE_NS,
	NOT_REPEATABLE,
};

/* What is requested, as ssl_open takes it. */
struct ssl_options settings_options(const struct options *options);

/* Notes what the log of an open database is really on. */
void settings_look(const struct ssl *ssl);

/* Keeps what a database that is closed did, for engine_write_properties. */
void settings_keep(const struct ssl_stats *stats);

#endif

/* Functions that each engine with driver.c implements. */
#ifndef COMMITPATH_SSL_DRIVER_H
#define COMMITPATH_SSL_DRIVER_H

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

/* Hooks of engine.h: each engine's own settings and properties, and those of driver.c. */
extern const struct option driver_settings[];
void driver_write_properties(struct json *json, size_t number);

const char *driver_title(void);
struct database *driver_open(const char *path, size_t number, const struct options *options,
			     const struct workload *workload, enum engine_use use,
			     struct error *error);
bool driver_close(struct database *database, struct error *error);
bool driver_commit(struct database *database, struct outcome *outcome, struct error *error);
bool driver_maintain(struct database *database, struct error *error);
size_t driver_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);
bool driver_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error);

/* The table's entries. */
#define DRIVER_HOOKS                                                                              \
	SQLITE_HOOKS, .settings = driver_settings, .title = driver_title, .open = driver_open,    \
		.close = driver_close, .commit = driver_commit, .maintain = driver_maintain,      \
		.read_setting = driver_read_setting, .write_properties = driver_write_properties, \
		.file_sizes = driver_file_sizes

/* Keeps a database's statistics when it is closed. */
void driver_keep(size_t number, struct ssl_stats stats);

/* Returns them; ALL_DATABASES: the sum over all databases, or the maximum for maxima. */
struct ssl_stats driver_stats(size_t number);

/* Begin the object with them, left open for the engine's own members, and end it. */
void driver_write_begin(struct json *json, size_t number);
void driver_write_end(struct json *json, size_t number);
void driver_write_number(struct json *json, const char *key, int64_t number);

#endif

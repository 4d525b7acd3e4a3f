/* Hooks of engine.h that every engine made of SQLite has. */
#ifndef COMMITPATH_SQLITE_HOOKS_H
#define COMMITPATH_SQLITE_HOOKS_H

#include "engine.h"

/* creation.c */
bool sqlite_remove(const char *path, struct error *error);
bool sqlite_create_tables(struct database *database, struct error *error);

/* render.c */
bool sqlite_load(struct database *database, const struct transaction *transaction,
		 struct error *error);
bool sqlite_render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error);

/* rows.c */
bool sqlite_scan(struct database *database, int64_t *rows, struct error *error);
bool sqlite_count(struct database *database, int64_t *rows, struct error *error);
bool sqlite_last_key(struct database *database, int64_t *key, struct error *error);

/* properties.c */
void sqlite_print_version(void);
void sqlite_write_version(struct json *json);
bool sqlite_read_properties(struct database *database, struct error *error);
/* Writes the pragmas that it read as members of the open object: of that database, or of the first
 * with ALL_DATABASES. */
void sqlite_write_pragmas(struct json *json, size_t number);

/* log.c */
bool sqlite_log_prepare(size_t transactions, struct error *error);
void sqlite_log_begin(void);
void sqlite_log_end(void);

/* The table's entries. */
#define SQLITE_HOOKS                                                                              \
	.has_sql = true, .print_version = sqlite_print_version, .remove = sqlite_remove,          \
	.create_tables = sqlite_create_tables, .write_version = sqlite_write_version,             \
	.load = sqlite_load, .render = sqlite_render, .scan = sqlite_scan, .count = sqlite_count, \
	.last_key = sqlite_last_key, .read_properties = sqlite_read_properties,                   \
	.log_prepare = sqlite_log_prepare, .log_begin = sqlite_log_begin,                         \
	.log_end = sqlite_log_end

#endif

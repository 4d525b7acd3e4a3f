/* Shared hooks of the engines made of SQLite (sqlite, ssl, ppl, sqlitekv): functions that create,
 * load, render, scan and log, and SQLITE_HOOKS, their entries in the table of engine.h. */
#pragma once

#include "engine.h"

/* creation.c */
/* Allocates a database that is opened next; NULL: no memory. */
struct database *database_make(const char *path, size_t number, const struct options *options,
			       const struct workload *workload, enum engine_use use,
			       struct error *error);

/* Closes the connection; a database that was created is then durable. */
bool database_close(struct database *database, struct error *error);

/* Frees it, after its connection was closed. */
void database_free(struct database *database);

/* Returns a file's size; 0 if it is missing or cannot be read, as then SQLite cannot either. */
int64_t database_file_size(const char *path, const char *suffix);

/* Executes a text in a database that is open, and returns only its result code. Each engine has its
 * own. */
int database_run(struct database *database, const char *sql);

/* Begins the transaction that creates a database, with this page size, without journal or syncs. */
bool creation_begin(struct database *database, int64_t page_size, struct error *error);

/* Ends the transaction. An error if SQLite did not accept the page size. */
bool creation_end(struct database *database, int64_t page_size, struct error *error);

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

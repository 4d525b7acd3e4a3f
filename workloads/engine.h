/* What a storage engine is: the functions below, in the C files of one folder of engines/. A driver
 * is linked with one engine, and nothing else of the driver knows which.
 *
 * A function that can fail returns false (or NULL) and says why in `error`; none of them ends the
 * process, and a database that could not be opened leaves nothing to close. */
#ifndef COMMITPATH_ENGINE_H
#define COMMITPATH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "json.h"
#include "options.h"
#include "workload.h"

/* An open database; what is in it is the engine's own. A run has one, or several of an engine with
 * SQL, with numbers from 0 on. */
struct database;

enum engine_use {
	ENGINE_CREATE, /* it is not there yet; not durable until it is closed */
	ENGINE_RUN,    /* measured, with the requested settings */
	ENGINE_VERIFY, /* read after the measurement, as fast as can be */
};

/* What a transaction is to the engine: SQL text, or keys and values in its own encoding. */
struct rendered {
	const void *data; /* valid until the next call */
	size_t size;
};

/* Bytes of the files of one role; 0: there is none. */
struct file_size {
	const char *role;
	int64_t bytes;
};
enum { MAX_FILE_SIZES = 8 };

/* The folder's name; in config.json. */
extern const char engine_name[];

/* Whether it executes SQL. Without it only workloads run whose operations all have keys. */
extern const bool engine_has_sql;

/* What can be requested of it: their values are in options.settings. */
extern const struct option engine_settings[];
extern const size_t engine_setting_count;

/* Roles of its files, as they are named in vfs.csv, by their number in a struct file_call. */
extern const char *const engine_file_roles[];

/* Its name and release, for people: "SQLite 3.46.1". */
const char *engine_title(void);

/* Prints release and build, a line each. */
void engine_print_version(void);

/* Opens the database of that number at `path`, which need not be options' own and lasts as long as
 * the process. The workload's table says how a row is written and read. */
struct database *engine_open(const char *path, size_t number, const struct options *options,
			     const struct workload *workload, enum engine_use use,
			     struct error *error);

/* Closes it, with the checkpoint that an app makes then, if it makes one. It is gone in any case. A
 * database that was created is on the device then, but for its own name. */
bool engine_close(struct database *database, struct error *error);

/* Removes a database, or what there is of one; nothing, if there is none. */
bool engine_remove(const char *path, struct error *error);

/* Makes the tables of a database that is created, those of its number. */
bool engine_create_tables(struct database *database, struct error *error);

/* Adds a row to a database that is created: a transaction of the workload's `fill`. */
bool engine_load(struct database *database, const struct transaction *transaction,
		 struct error *error);

/* Turns a transaction into what the engine is given. Not timed: an app has it at hand. */
bool engine_render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error);

/* Executes what was rendered last. Timed; that it returns true is the acknowledgement. `changes`
 * gets the number of rows that it inserted, updated or deleted. */
bool engine_commit(struct database *database, int32_t *changes, struct error *error);

/* What an app does now and then, between transactions: checkpoint or compaction, to its end. */
bool engine_maintain(struct database *database, struct error *error);

/* Reads all the data once; `rows` gets the number of rows. An error, if a value is not of
 * --value-size bytes. */
bool engine_scan(struct database *database, int64_t *rows, struct error *error);

/* Counts the rows. */
bool engine_count(struct database *database, int64_t *rows, struct error *error);

/* The largest key, 0 when there is no row. */
bool engine_last_key(struct database *database, int64_t *key, struct error *error);

/* What is in effect of engine_settings[index], as its option is written. No I/O. */
bool engine_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error);

/* Reads what else is in effect and keeps it for engine_write_properties. */
bool engine_read_properties(struct database *database, struct error *error);

/* Write members of config.json: release and build; what else was in effect, in the database of
 * that number, or as far as it can be said of all of them together. */
void engine_write_version(struct json *json);
void engine_write_properties(struct json *json, size_t number);
enum { ALL_DATABASES = MAX_DATABASES };

/* Sizes of the database's files by role; returns how many roles. No I/O. */
size_t engine_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);

/* The log of the engine's calls to its files (file_calls.h). `prepare` comes before the first
 * database is opened and makes room for the calls of so many transactions; what is called between
 * `begin` and `end` is noted, beginning with an `open` of each file that is open. What is written
 * is told to written.h from the first open on. */
bool engine_log_prepare(size_t transactions, struct error *error);
void engine_log_begin(void);
void engine_log_end(void);

#endif

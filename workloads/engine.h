/* Interface between the driver and a storage engine: `engine`, a table of settings and hooks (open,
 * render, commit, scan, log of file calls, …) that the C files of one folder of engines/ define. A
 * driver is linked with one engine, and no other part of it depends on which one.
 *
 * A hook that can fail returns false (or NULL) and sets `error`. Only the log of calls ends the
 * process, by fail(), when it cannot record one. A database that could not be opened leaves nothing
 * to close. A hook that is not required may be NULL.
 *
 * The driver calls all hooks from one thread, one at a time. An engine may have threads of its own:
 * - It names each (prctl(PR_SET_NAME)); until then a thread has the name of the one that started
 *   it. JOBS of model/engines/NAME.py attributes I/O to a job by that name. Observers follow only
 *   the driver's main thread.
 * - If such a thread calls the engine's files, there is no log of calls: `log_prepare` is NULL, or
 *   `open` fails if calls are recorded. file_calls.h, written.h and stored.h have no lock.
 * - After `close`, no thread of that database runs. After `maintain`, none has work left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "json.h"
#include "options.h"
#include "workload.h"

/* An open database, defined by the engine. A run has one, or several of an engine with SQL,
 * numbered from 0. */
struct database;

enum engine_use {
	ENGINE_CREATE, /* it does not exist yet; not durable until it is closed */
	ENGINE_RUN,    /* measured, with the requested settings */
	ENGINE_VERIFY, /* read after the measurement, as fast as possible */
};

/* A transaction as the engine takes it: SQL text, or keys and values in its own encoding. */
struct rendered {
	const void *data; /* valid until the next call */
	size_t size;
};

/* Results of a transaction. An engine that would have to read rows to count its changes leaves them
 * unknown, as that would be timed. */
enum { CHANGES_UNKNOWN = -1 };
struct outcome {
	int32_t changes; /* rows that it inserted, updated or deleted; CHANGES_UNKNOWN */
	int32_t rows;	 /* that it returned */
	int64_t bytes;	 /* of the values in them */
};

/* Bytes of the files of one role; 0: there is none. */
struct file_size {
	const char *role;
	int64_t bytes;
};
enum { MAX_FILE_SIZES = 8 };

/* For read_setting. */
#define NOT_REPORTED ""

/* For write_properties: of all databases together. */
enum { ALL_DATABASES = MAX_DATABASES };

/* Takes a row of a database; `value` is valid until it returns. */
typedef bool each_row(void *context, int64_t key, const void *value, size_t size,
		      struct error *error);

struct engine {
	/* Required: the folder's name; in config.json. */
	const char *name;

	/* It executes SQL. If not, only workloads run whose operations all have keys. */
	bool has_sql;

	/* It maps its files. The program's pages are locked in memory before they are opened, or
	 * theirs would be too. */
	bool maps_files;

	/* Its settings, ended by an entry without a name; values are in options.settings. NULL:
	 * none.
	 */
	const struct option *settings;

	/* Required with a log of calls: file roles in vfs.csv, by their number in a struct
	 * file_call. */
	const char *const *file_roles;

	/* Required: its name and release, for people, such as "SQLite 3.46.1". */
	const char *(*title)(void);

	/* Prints release and build, a line each. NULL: the title is printed. */
	void (*print_version)(void);

	/* Required: opens database `number` at `path`, which lasts as long as the process and may
	 * differ from that of `options`. */
	struct database *(*open)(const char *path, size_t number, const struct options *options,
				 const struct workload *workload, enum engine_use use,
				 struct error *error);

	/* Required: closes it, with the checkpoint that an app makes then, if any. It is freed even
	 * after an error. A database that was created is durable then, except for its name. */
	bool (*close)(struct database *database, struct error *error);

	/* Required: removes a database or a part of one, if there is any. */
	bool (*remove)(const char *path, struct error *error);

	/* Makes the tables of a database that is created. NULL: keys need none. */
	bool (*create_tables)(struct database *database, struct error *error);

	/* Adds a row to a database that is created: a transaction of the workload's `fill`. NULL:
	 * it is rendered and committed as any other. */
	bool (*load)(struct database *database, const struct transaction *transaction,
		     struct error *error);

	/* Required: renders a transaction. Not timed. An operation of a kind that it lacks is an
	 * error. */
	bool (*render)(struct database *database, const struct transaction *transaction,
		       struct rendered *rendered, struct error *error);

	/* Required: executes what was rendered last. Timed; returning true acknowledges it.
	 * `outcome` is all 0 before. Nothing is done only to fill it. */
	bool (*commit)(struct database *database, struct outcome *outcome, struct error *error);

	/* Completes a checkpoint or compaction between transactions, as an app does. NULL:
	 * --checkpoint-every N is rejected. */
	bool (*maintain)(struct database *database, struct error *error);

	/* Required: reads all the data once and counts the rows. A value of another size than
	 * --value-size is an error. */
	bool (*scan)(struct database *database, int64_t *rows, struct error *error);

	/* Counts the rows. NULL: `scan` does. */
	bool (*count)(struct database *database, int64_t *rows, struct error *error);

	/* Required without SQL, for crash trials: calls `row` for each row in the order of their
	 * keys, until it returns false. A key that the workloads cannot have is an error. */
	bool (*each)(struct database *database, each_row *row, void *context, struct error *error);

	/* Reads the largest key, 0 if there is no row. NULL: workloads that need it are rejected.
	 */
	bool (*last_key)(struct database *database, int64_t *key, struct error *error);

	/* Required with settings: the effective value of settings[index], as its option is written;
	 * NOT_REPORTED if the engine has no call for it. No I/O. */
	bool (*read_setting)(struct database *database, size_t index, char *answer, size_t size,
			     struct error *error);

	/* Reads further effective settings and keeps them for write_properties. */
	bool (*read_properties)(struct database *database, struct error *error);

	/* Required: writes a member of config.json with release and build. */
	void (*write_version)(struct json *json);

	/* Writes a member of config.json with further effective settings of database `number`, or
	 * of ALL_DATABASES. NULL: an empty object `properties`. */
	void (*write_properties)(struct json *json, size_t number);

	/* Reads the sizes of the database's files by role; returns the number of roles. No I/O.
	 * NULL: none. */
	size_t (*file_sizes)(const char *path, struct file_size sizes[MAX_FILE_SIZES]);

	/* The log of the engine's file calls (file_calls.h): all three or none. `log_prepare` is
	 * called before the first database is opened, and makes room for the calls of so many
	 * transactions. Calls between `log_begin` and `log_end` are logged, beginning with an
	 * `open` of each open file. Writes are reported to written.h from the first open on. NULL:
	 * the options --vfs-log and --written are rejected. */
	bool (*log_prepare)(size_t transactions, struct error *error);
	void (*log_begin)(void);
	void (*log_end)(void);
};

/* The driver's engine, and the number of its settings. */
extern const struct engine engine;
size_t engine_setting_count(void);

/* Call the hook, or do what its comment has for NULL. */
bool engine_create_tables(struct database *database, struct error *error);
bool engine_load(struct database *database, const struct transaction *transaction,
		 struct error *error);
bool engine_commit(struct database *database, struct outcome *outcome, struct error *error);
bool engine_count(struct database *database, int64_t *rows, struct error *error);
bool engine_read_properties(struct database *database, struct error *error);
void engine_write_properties(struct json *json, size_t number);

/* Ends the program with a usage error if the engine lacks a hook that these options need. */
void engine_require(const struct options *options);

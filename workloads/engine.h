/* What a storage engine is: a table of functions, `engine`, that the C files of one folder of
 * engines/ define. A driver is linked with one engine, and nothing else of the driver knows which.
 *
 * Functions: a hook that can fail returns false (or NULL) and sets `error`. None of them ends the
 * process, and a database that could not be opened leaves nothing to close. Each hook says whether
 * it is required; one that is not may be NULL, and its comment says what the driver does then.
 *
 * Threads: the driver calls all hooks from one thread, one at a time. An engine may have threads of
 * its own, under these rules:
 * - It gives each a name (prctl(PR_SET_NAME)); until then a thread has that of the one that started
 *   it. By the name model/engines/NAME.py says what the thread is for (JOBS), so that what it
 *   writes is attributed to that job. Observers follow the driver's main thread only.
 * - If a thread of its own calls file_calls_add, `threads` is true: each call is then logged with
 *   its thread, under a lock. The analysis does not read such a log yet: it refuses the column.
 *   written.h and stored.h have no lock: the engine holds one of its own around its calls of them.
 * - After `close`, no thread of that database runs. After `maintain`, none has work left.
 * - On a board with one CPU what threads do repeats as all else does; on a host it does not.
 */
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

/* What a transaction did. An engine that would have to read to know the changes leaves them
 * unknown: what is timed is what an app asks for. */
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

/* For write_properties: as far as it can be said of all databases together. */
enum { ALL_DATABASES = MAX_DATABASES };

struct engine {
	/* Required: the folder's name; in config.json. */
	const char *name;

	/* Not required, false: it executes SQL. Without it only workloads run whose operations all
	 * have keys. */
	bool has_sql;

	/* Not required, false: threads of its own call its files (see above). */
	bool threads;

	/* Not required, NULL: what can be requested of it, ended by an entry without a name; the
	 * values are in options.settings. */
	const struct option *settings;

	/* Required with a log of calls: roles of its files, as they are named in vfs.csv, by their
	 * number in a struct file_call. */
	const char *const *file_roles;

	/* Required. Its name and release, for people: "SQLite 3.46.1". */
	const char *(*title)(void);

	/* Not required. Prints release and build, a line each. NULL: its title is all. */
	void (*print_version)(void);

	/* Required. Opens the database of that number at `path`, which need not be options' own and
	 * lasts as long as the process. The workload's table says how a row is written and read. */
	struct database *(*open)(const char *path, size_t number, const struct options *options,
				 const struct workload *workload, enum engine_use use,
				 struct error *error);

	/* Required. Closes it, with the checkpoint that an app makes then, if it makes one. It is
	 * gone in any case. A database that was created is on the device then, but for its own
	 * name. */
	bool (*close)(struct database *database, struct error *error);

	/* Required. Removes a database, or what there is of one; nothing, if there is none. */
	bool (*remove)(const char *path, struct error *error);

	/* Not required. Makes the tables of a database that is created, those of its number. NULL:
	 * keys need none. */
	bool (*create_tables)(struct database *database, struct error *error);

	/* Not required. Adds a row to a database that is created: a transaction of the workload's
	 * `fill`. NULL: it is rendered and committed as any other. */
	bool (*load)(struct database *database, const struct transaction *transaction,
		     struct error *error);

	/* Required. Turns a transaction into what the engine is given. Not timed: an app has it at
	 * hand. An error at a kind of operation that it does not have. */
	bool (*render)(struct database *database, const struct transaction *transaction,
		       struct rendered *rendered, struct error *error);

	/* Required. Executes what was rendered last. Timed; that it returns true is the
	 * acknowledgement. `outcome` is all 0 before. Nothing is done only to fill it. */
	bool (*commit)(struct database *database, struct outcome *outcome, struct error *error);

	/* Not required. What an app does now and then, between transactions: checkpoint or
	 * compaction, to its end. NULL: --checkpoint-every N is refused. */
	bool (*maintain)(struct database *database, struct error *error);

	/* Required. Reads all the data once; `rows` gets the number of rows. An error, if the size
	 * of a value is not --value-size. */
	bool (*scan)(struct database *database, int64_t *rows, struct error *error);

	/* Not required. Counts the rows. NULL: a scan does. */
	bool (*count)(struct database *database, int64_t *rows, struct error *error);

	/* Not required. The largest key, 0 when there is no row. NULL: workloads that ask for it
	 * are refused. */
	bool (*last_key)(struct database *database, int64_t *key, struct error *error);

	/* Required with settings. What is in effect of settings[index], as its option is written.
	 * No I/O. */
	bool (*read_setting)(struct database *database, size_t index, char *answer, size_t size,
			     struct error *error);

	/* Not required. Reads what else is in effect and keeps it for write_properties. */
	bool (*read_properties)(struct database *database, struct error *error);

	/* Required. Writes a member of config.json: release and build. */
	void (*write_version)(struct json *json);

	/* Not required. Writes a member of config.json: what else was in effect, in the database of
	 * that number or in ALL_DATABASES. NULL: an empty object `properties`. */
	void (*write_properties)(struct json *json, size_t number);

	/* Not required. Sizes of the database's files by role; returns how many roles. No I/O.
	 * NULL: none. */
	size_t (*file_sizes)(const char *path, struct file_size sizes[MAX_FILE_SIZES]);

	/* Not required, all three or none: the log of the engine's calls to its files
	 * (file_calls.h). `log_prepare` comes before the first database is opened and makes room
	 * for the calls of so many transactions; what is called between `log_begin` and `log_end`
	 * is noted, beginning with an `open` of each file that is open. What is written is reported
	 * to written.h from the first open on. NULL: the options --vfs-log and --written are
	 * refused. */
	bool (*log_prepare)(size_t transactions, struct error *error);
	void (*log_begin)(void);
	void (*log_end)(void);
};

/* That of the driver. */
extern const struct engine engine;

/* How many settings it has. */
size_t engine_setting_count(void);

/* These call the hook, or do what its comment says where there is none. */
void engine_print_version(void);
bool engine_create_tables(struct database *database, struct error *error);
bool engine_load(struct database *database, const struct transaction *transaction,
		 struct error *error);
bool engine_commit(struct database *database, struct outcome *outcome, struct error *error);
bool engine_count(struct database *database, int64_t *rows, struct error *error);
bool engine_read_properties(struct database *database, struct error *error);
void engine_write_properties(struct json *json, size_t number);
size_t engine_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);
bool engine_log_prepare(size_t transactions, struct error *error);

/* Ends the program with a usage error when the engine lacks a hook that a run of these options
 * needs. */
void engine_require(const struct options *options);

#endif

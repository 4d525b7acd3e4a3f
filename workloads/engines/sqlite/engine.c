/* Hooks of engine.h for SQLite: opens a connection with the requested pragmas, commits a
 * transaction, checkpoints the WAL, closes, and reads file sizes. */
#include "engine.h"

#include <stdio.h>

#include "hooks.h"
#include "log.h"
#include "settings.h"
#include "sql.h"
#include "writers.h"

const struct log_engine log_engine = {NULL, NULL, false};

/* File name suffixes by role. */
static const struct {
	const char *role, *suffix;
} files[] = {{"database", ""}, {"journal", "-journal"}, {"wal", "-wal"}};
#define FILE_COUNT (sizeof(files) / sizeof(files[0]))

static const char *title(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "SQLite %s", sqlite3_libversion());
	return text;
}

/* Configures a connection before it is used. */
static bool set_up(struct database *database, struct error *error)
{
	switch (database->use) {
	case ENGINE_CREATE:
		return settings_of_file(database->db, database->options, error) &&
		       creation_begin(database, database->options->settings[PAGE_SIZE], error);
	case ENGINE_RUN:
		/* an empty database has no page size yet */
		if (database->workload->creates &&
		    !settings_of_file(database->db, database->options, error))
			return false;
		return settings_apply(database->db, database->options, error) &&
		       settings_hold_reader(database, error) && writers_open(database, error) &&
		       render_open(database, error);
	case ENGINE_VERIFY:
		/* Not measured: a mapping avoids copies. The size is SQLite's maximum. */
		return sql_run(database->db, "PRAGMA mmap_size=2147418112", error) &&
		       render_open(database, error);
	}
	return false;
}

static void drop(struct database *database)
{
	struct error ignored;

	writers_close(database, &ignored);
	sqlite3_close(database->reader);
	sqlite3_close(database->db);
	database_free(database);
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	/* Never read-only: such a connection leaves a -wal and a -shm. */
	int flags = SQLITE_OPEN_READWRITE | (use == ENGINE_CREATE ? SQLITE_OPEN_CREATE : 0);
	struct database *database = database_make(path, number, options, workload, use, error);

	if (database == NULL)
		return NULL;
	if (!settings_of_process(options, error)) {
		drop(database);
		return NULL;
	}
	if (sqlite3_open_v2(path, &database->db, flags, NULL) == SQLITE_OK) {
		sqlite3_extended_result_codes(database->db, 1);
		if (set_up(database, error))
			return database;
	} else if (database->db == NULL) {
		error_set(error, "opening %s: no memory", path);
	} else {
		error_set(error, "opening %s: SQLite error %d (%s)", path,
			  sqlite3_extended_errcode(database->db), sqlite3_errmsg(database->db));
	}
	drop(database);
	return NULL;
}

static bool maintain(struct database *database, struct error *error)
{
	static const char sql[] = "PRAGMA wal_checkpoint";
	sqlite3_stmt *statement = sql_prepare(database->db, sql, error);
	int busy, frames, checkpointed;
	bool done;

	if (statement == NULL)
		return false;
	if (sqlite3_step(statement) != SQLITE_ROW) {
		sql_error(database->db, "step", sql, error);
		sqlite3_finalize(statement);
		return false;
	}
	busy = sqlite3_column_int(statement, 0);
	frames = sqlite3_column_int(statement, 1);
	checkpointed = sqlite3_column_int(statement, 2);
	/* In the other journal modes it has no effect, and both numbers are -1. */
	done = busy == 0 && frames == checkpointed;
	if (!done)
		error_set(error, "%s: busy %d, %d of %d frames done", sql, busy, checkpointed,
			  frames);
	sqlite3_finalize(statement);
	return done;
}

/* Ends the held reader, if any: a checkpoint then reaches the end of the WAL. */
static bool release_reader(struct database *database, struct error *error)
{
	sqlite3 *reader = database->reader;

	if (reader == NULL)
		return true;
	database->reader = NULL;
	if (sqlite3_close(reader) == SQLITE_OK)
		return true;
	return sql_error(reader, "close", "the held reader", error);
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = true;

	if (database->use == ENGINE_CREATE)
		closed = creation_end(database, database->options->settings[PAGE_SIZE], error);
	else if (database->use == ENGINE_RUN)
		closed = writers_close(database, error) && release_reader(database, error) &&
			 maintain(database, error);
	else
		writers_write(database->options->output_dir);
	closed = closed && database_close(database, error);
	drop(database);
	return closed;
}

int database_run(struct database *database, const char *sql)
{
	return sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

static bool commit(struct database *database, struct outcome *outcome, struct error *error)
{
	int before = sqlite3_total_changes(database->db);

	if (database->writers != NULL ? !writers_commit(database, outcome, error)
				      : !sql_execute(database, sql_execute_one, outcome, error))
		return false;
	outcome->changes = sqlite3_total_changes(database->db) - before;
	return true;
}

static size_t file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	for (size_t i = 0; i < FILE_COUNT; i++)
		sizes[i] = (struct file_size){files[i].role,
					      database_file_size(path, files[i].suffix)};
	return FILE_COUNT;
}

static const char *const file_roles[] = {SQLITE_FILE_ROLES};

const struct engine engine = {
	SQLITE_HOOKS,
	.name = "sqlite",
	.settings = sqlite_settings,
	.file_roles = file_roles,
	.title = title,
	.open = open_database,
	.close = close_database,
	.commit = commit,
	.maintain = maintain,
	.read_setting = sqlite_read_setting,
	.write_properties = sqlite_write_properties,
	.file_sizes = file_sizes,
};

/* SQLite/SSL as an engine of the driver. What is made and what is read afterwards is SQLite's
 * alone. */
#include "engine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "creation.h"
#include "log.h"
#include "persistent.h"
#include "render.h"
#include "settings.h"
#include "sql.h"
#include "ticks.h"

const char engine_name[] = "ssl";
const bool engine_has_sql = true;

const char *const engine_file_roles[] = {SQLITE_FILE_ROLES, [ROLE_OWN] = "statements"};
const struct log_engine log_engine = {"-sla", true};

static const struct {
	const char *role, *suffix;
} files[] = {{"database", ""}, {"wal", "-wal"}, {"statements", "-sla"}};
enum { FILE_COUNT = sizeof(files) / sizeof(files[0]), LOG = FILE_COUNT - 1 };

/* That the log is in; NULL: the database's. */
static const char *log_folder;

const char *engine_title(void)
{
	static char title[64];

	snprintf(title, sizeof(title), "SQLite/SSL on SQLite %s", sqlite3_libversion());
	return title;
}

static bool open_plain(struct database *database, struct error *error)
{
	int flags =
		SQLITE_OPEN_READWRITE | (database->use == ENGINE_CREATE ? SQLITE_OPEN_CREATE : 0);

	if (sqlite3_open_v2(database->path, &database->db, flags, NULL) != SQLITE_OK)
		return error_set(error, "opening %s: SQLite error %d (%s)", database->path,
				 sqlite3_extended_errcode(database->db),
				 sqlite3_errmsg(database->db));
	return database->use == ENGINE_CREATE
		       ? creation_begin(database, database->options->settings[PAGE_SIZE], error)
		       : render_open(database, error);
}

static uint64_t now(void)
{
	return ticks_now();
}

static void copied(uint64_t begin, int64_t offset, int64_t bytes)
{
	log_note_own(FILE_COPY, begin, offset, bytes, SQLITE_OK);
}

static void synced(uint64_t begin, int result)
{
	log_note_own(FILE_MSYNC, begin, FILE_NOTHING, FILE_NOTHING, result);
}

static const struct ssl_observer observer = {now, log_note_kept, copied, synced};

static bool open_logged(struct database *database, struct error *error)
{
	struct ssl_options options = settings_options(database->options);
	char sql[64];
	struct ssl *ssl;

	/* of a database without a page */
	snprintf(sql, sizeof(sql), "PRAGMA page_size=%lld",
		 (long long)database->options->settings[PAGE_SIZE]);
	options.creation = sql;
	if (database->options->vfs_log)
		options.observer = &observer;
	if (!ssl_open(database->path, SQLITE_OPEN_READWRITE, &options, &ssl, error))
		return false;
	database->own = ssl;
	database->db = ssl_db(ssl);
	log_folder = options.log_folder;
	if (options.medium == SSL_PCM) {
		persistent_role = files[LOG].role;
		settings_look(ssl);
	}
	snprintf(sql, sizeof(sql), "PRAGMA cache_size=%lld",
		 (long long)database->options->settings[CACHE_SIZE]);
	return sql_run(database->db, sql, error) && render_open(database, error);
}

static void drop(struct database *database)
{
	struct error ignored;

	if (database->own != NULL)
		ssl_close(database->own, &ignored);
	else
		sqlite3_close(database->db);
	render_close(database);
	free(database);
}

struct database *engine_open(const char *path, const struct options *options,
			     const struct workload *workload, enum engine_use use,
			     struct error *error)
{
	struct database *database = calloc(1, sizeof(*database));

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->path = path;
	database->options = options;
	database->workload = workload;
	database->use = use;
	if (use == ENGINE_RUN ? open_logged(database, error) : open_plain(database, error))
		return database;
	drop(database);
	return NULL;
}

/* Closes it with its last checkpoint, of which the numbers are, too. */
static bool close_logged(struct database *database, struct error *error)
{
	struct ssl *ssl = database->own;
	struct ssl_stats stats;

	if (!ssl_checkpoint(ssl, error))
		return false;
	stats = ssl_stats(ssl);
	settings_keep(&stats);
	database->own = NULL;
	database->db = NULL;
	return ssl_close(ssl, error);
}

bool engine_close(struct database *database, struct error *error)
{
	bool created = database->use == ENGINE_CREATE, closed = true;

	if (created)
		closed = creation_end(database, database->options->settings[PAGE_SIZE], error);
	if (closed && database->own != NULL) {
		closed = close_logged(database, error);
	} else if (closed) {
		closed = sqlite3_close(database->db) == SQLITE_OK ||
			 sql_error(database->db, "close", "the database", error);
		if (closed)
			database->db = NULL;
	}
	if (closed && created)
		closed = creation_sync(database->path, error);
	drop(database);
	return closed;
}

bool engine_remove(const char *path, struct error *error)
{
	return unlink(path) == 0 || errno == ENOENT ||
	       error_set(error, "removing %s: %s", path, strerror(errno));
}

static int run(struct database *database, const char *sql)
{
	return database->own != NULL ? ssl_exec(database->own, sql)
				     : sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

bool engine_create_tables(struct database *database, struct error *error)
{
	return creation_tables(database, run, error);
}

/* Executes one statement: prepare, step and finalize each time. `text` goes to where it ends. */
static bool execute_one(struct database *database, const char **text, size_t length,
			struct error *error)
{
	struct ssl_stmt *statement;
	int result = ssl_prepare(database->own, *text, (int)length, &statement, text);

	if (result != SQLITE_OK)
		return sql_error(database->db, "prepare", NULL, error);
	if (statement == NULL)
		return true;
	do
		result = ssl_step(statement);
	while (result == SQLITE_ROW);
	if (result != SQLITE_DONE) {
		sql_error(database->db, "step", NULL, error);
		ssl_finalize(statement);
		return false;
	}
	return ssl_finalize(statement) == SQLITE_OK ||
	       sql_error(database->db, "finalize", NULL, error);
}

static bool execute_all(struct database *database, struct error *error)
{
	const char *text = database->text, *end = text + database->length;

	while (text < end) {
		const char *statement = text;

		if (!execute_one(database, &text, (size_t)(end - text) + 1, error))
			return sql_error_at(database->text, database->line, statement, error);
	}
	return true;
}

bool engine_commit(struct database *database, int32_t *changes, struct error *error)
{
	int before = sqlite3_total_changes(database->db);
	int64_t lines = 0, bytes = 0;

	if (persistent_role != NULL) {
		struct ssl_stats stats = ssl_stats(database->own);

		lines = stats.log_lines;
		bytes = stats.pcm_bytes;
	}
	if (!execute_all(database, error))
		return false;
	*changes = sqlite3_total_changes(database->db) - before;
	if (persistent_role != NULL) {
		struct ssl_stats stats = ssl_stats(database->own);

		persistent_note(stats.log_lines - lines, stats.pcm_bytes - bytes);
	}
	return true;
}

bool engine_maintain(struct database *database, struct error *error)
{
	return ssl_checkpoint(database->own, error);
}

static int64_t file_size(const char *path, size_t file)
{
	const char *last = strrchr(path, '/'), *folder = file == LOG ? log_folder : NULL;
	char name[PATH_MAX];
	struct stat status;

	if (folder == NULL)
		snprintf(name, sizeof(name), "%s%s", path, files[file].suffix);
	else
		snprintf(name, sizeof(name), "%s/%s%s", folder, last != NULL ? last + 1 : path,
			 files[file].suffix);
	return stat(name, &status) == 0 ? status.st_size : 0;
}

size_t engine_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	for (size_t i = 0; i < FILE_COUNT; i++)
		sizes[i] = (struct file_size){files[i].role, file_size(path, i)};
	return FILE_COUNT;
}

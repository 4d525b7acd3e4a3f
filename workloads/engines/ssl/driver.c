/* Opens, checkpoints and closes databases with a log, executes transactions, and reports settings
 * and file sizes, for the engines ssl and ppl (hooks of engine.h); adds what no VFS sees (pages
 * kept in memory, stores, cleaned cache lines) to the log of file calls. Populating and verifying
 * use SQLite alone. */
#include "engine.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "hooks.h"
#include "log.h"
#include "sql.h"
#include "state.h"
#include "stored.h"
#include "ticks.h"

/* The logs' folder; NULL: the database's. */
static const char *log_folder;
static bool is_persistent[MAX_DATABASES]; /* according to the log's mapping */

static const char *title(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s on SQLite %s", driver_product, sqlite3_libversion());
	return text;
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

/* Calls to add to the log of calls that no VFS sees. */

static size_t number_of(const void *of)
{
	const struct database *database = of;

	return database->number;
}

static void page_kept(void *of, uint64_t begin, int64_t offset, int64_t bytes, int64_t page)
{
	log_note_kept(number_of(of), begin, offset, bytes, page);
}

static void copied(void *of, uint64_t begin, const void *data, int64_t offset, int64_t bytes)
{
	log_note_own(number_of(of), FILE_COPY, begin, offset, bytes, SQLITE_OK);
	stored_copy(data, bytes, offset);
}

static void synced(void *of, uint64_t begin, int result)
{
	log_note_own(number_of(of), FILE_MSYNC, begin, FILE_NOTHING, FILE_NOTHING, result);
}

static void cleaned(void *of, uint64_t begin, int64_t offset, int64_t bytes)
{
	log_note_own(number_of(of), FILE_CLEAN, begin, offset, bytes, SQLITE_OK);
	stored_clean(bytes, offset);
}

static const struct ssl_observer observer = {ticks_now, page_kept, copied, synced, cleaned};

static struct ssl_options requested(struct database *database)
{
	const struct options *options = database->options;
	struct ssl_options made;

	ssl_defaults(&made);
	made.log_size = options->settings[LOG_SIZE];
	made.dirty = options->settings[DIRTY_PAGES];
	made.medium = (enum ssl_medium)options->settings[LOG_MEDIUM];
	made.line = options->settings[PCM_LINE];
	made.write_ns = options->settings[PCM_WRITE_NS];
	if (made.medium == SSL_PCM)
		made.log_folder = options->persistent;
	if (options->vfs_log)
		made.observer = &observer;
	made.observed = database;
	driver_own_options(options, &made);
	return made;
}

static bool open_logged(struct database *database, struct error *error)
{
	struct ssl_options options = requested(database);
	char sql[64];
	struct ssl *ssl;

	/* for a database without a page */
	snprintf(sql, sizeof(sql), "PRAGMA page_size=%lld",
		 (long long)database->options->settings[PAGE_SIZE]);
	options.creation = sql;
	if (!ssl_open(database->path, SQLITE_OPEN_READWRITE, &options, &ssl, error))
		return false;
	database->own = ssl;
	database->db = ssl_db(ssl);
	log_folder = options.log_folder;
	if (options.medium == SSL_PCM) {
		persistent_role = driver_files[driver_file_count - 1].role;
		/* once: asking the kernel takes too long while measuring */
		is_persistent[database->number] = medium_is_synchronous(ssl);
		stored_open(ssl->log_path, ssl->log.map, ssl->log.size);
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
	database_free(database);
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	struct database *database = database_make(path, number, options, workload, use, error);

	if (database == NULL)
		return NULL;
	if (use == ENGINE_RUN ? open_logged(database, error) : open_plain(database, error))
		return database;
	drop(database);
	return NULL;
}

/* Closes it with its last checkpoint, which the statistics include. */
static bool close_logged(struct database *database, struct error *error)
{
	struct ssl *ssl = database->own;

	if (!ssl_checkpoint(ssl, error))
		return false;
	driver_keep(database->number, ssl_stats(ssl));
	database->own = NULL;
	database->db = NULL;
	return ssl_close(ssl, error);
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = true;

	if (database->use == ENGINE_CREATE)
		closed = creation_end(database, database->options->settings[PAGE_SIZE], error);
	if (closed)
		closed = database->own != NULL ? close_logged(database, error)
					       : database_close(database, error);
	drop(database);
	return closed;
}

static bool commit(struct database *database, struct outcome *outcome, struct error *error)
{
	int before = sqlite3_total_changes(database->db);
	int64_t lines = 0, bytes = 0;

	if (persistent_role != NULL) {
		struct ssl_stats stats = ssl_stats(database->own);

		lines = stats.log_lines;
		bytes = stats.pcm_bytes;
	}
	if (!driver_execute(database, outcome, error))
		return false;
	outcome->changes = sqlite3_total_changes(database->db) - before;
	if (persistent_role != NULL) {
		struct ssl_stats stats = ssl_stats(database->own);

		persistent_note(stats.log_lines - lines, stats.pcm_bytes - bytes);
	}
	return true;
}

static bool maintain(struct database *database, struct error *error)
{
	return ssl_checkpoint(database->own, error);
}

static size_t file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	const char *last = strrchr(path, '/');
	char log_path[PATH_MAX];

	snprintf(log_path, sizeof(log_path), "%s/%s", log_folder != NULL ? log_folder : "",
		 last != NULL ? last + 1 : path);
	for (size_t i = 0; i < driver_file_count; i++)
		sizes[i] = (struct file_size){
			driver_files[i].role,
			database_file_size(
				log_folder != NULL && i == driver_file_count - 1 ? log_path : path,
				driver_files[i].suffix)};
	return driver_file_count;
}

/* SQLite reports the page and cache sizes; the other settings are those that it was given. */
static bool read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	const struct option *option = &engine.settings[index];
	char sql[64];
	bool found;

	if (index == LOG_MEDIUM && database->options->settings[LOG_MEDIUM] == SSL_PCM &&
	    !is_persistent[database->number]) {
		snprintf(answer, size, "pcm without MAP_SYNC");
		return true;
	}
	if (index != PAGE_SIZE && index != CACHE_SIZE) {
		char value[24];

		snprintf(answer, size, "%s",
			 option_value_text(option, database->options, value, sizeof(value)));
		return true;
	}
	snprintf(sql, sizeof(sql), "PRAGMA %s", option->key);
	return sql_text(database->db, sql, answer, size, &found, error) &&
	       (found || error_set(error, "%s: no answer", sql));
}

const struct engine engine = {
	SQLITE_HOOKS,
	.name = driver_name,
	.settings = driver_settings,
	.file_roles = driver_file_roles,
	.title = title,
	.open = open_database,
	.close = close_database,
	.commit = commit,
	.maintain = maintain,
	.read_setting = read_setting,
	.write_properties = driver_write_properties,
	.file_sizes = file_sizes,
};

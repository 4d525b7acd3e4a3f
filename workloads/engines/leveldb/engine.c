/* Hooks of engine.h for LevelDB, by its C API: opens, fills, commits (a batch, synced or
 * not), compacts, closes and removes a database. Compactions are the caller's or a thread's. */
#include "engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "database.h"
#include "engine_files.h"
#include "leveldb/compaction.h"
#include "leveldb/environment.h"
#include "leveldb/files.h"
#include "leveldb/index_blocks.h"

static void drop(struct database *database)
{
	environment_drain();
	if (database->db != NULL)
		leveldb_close(database->db);
	leveldb_options_destroy(database->options);
	if (database->cache != NULL)
		leveldb_cache_destroy(database->cache);
	if (database->filter != NULL)
		leveldb_filterpolicy_destroy(database->filter);
	leveldb_readoptions_destroy(database->read);
	leveldb_writeoptions_destroy(database->write);
	leveldb_writebatch_destroy(database->batch);
	key_values_close(&database->key_values);
	free(database);
}

/* Compacts a range that no key is in, which takes until the compaction that is under way is done.
 * CompactRange first moves what is in memory to a table, and begins a new log. */
static void compact_nothing(leveldb_t *db)
{
	static const char key[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff";

	leveldb_compact_range(db, key, sizeof(key) - 1, key, sizeof(key) - 1);
}

/* Arguments of leveldb_open and its results. */
struct opening {
	const leveldb_options_t *options;
	const char *path;
	leveldb_t *db;
	char *message;
};

static void open_here(struct opening *opening)
{
	opening->db = leveldb_open(opening->options, opening->path, &opening->message);
	environment_drain();
}

/* LevelDB starts a thread of its own with its first compaction, which takes its name from the
 * thread that starts it. So a thread of the engine's name starts it, by a compaction of keys that
 * nobody has: by that name what it writes is attributed to compactions
 * (model/engines/leveldb.py, JOBS). */
static void *open_named(void *argument)
{
	struct opening *opening = argument;

	prctl(PR_SET_NAME, engine.name);
	opening->db = leveldb_open(opening->options, opening->path, &opening->message);
	if (opening->db != NULL)
		compact_nothing(opening->db);
	return NULL;
}

static bool open_by_thread(struct opening *opening, struct error *error)
{
	pthread_t opener;
	int result = pthread_create(&opener, NULL, open_named, opening);

	if (result != 0)
		return error_set(error, "opening %s: no thread: %s", opening->path,
				 strerror(result));
	pthread_join(opener, NULL);
	return true;
}

static void set_options(struct database *database, const struct options *options)
{
	const int64_t *settings = options->settings;
	enum engine_use use = database->use;

	database->options = leveldb_options_create();
	database->read = leveldb_readoptions_create();
	database->write = leveldb_writeoptions_create();
	database->batch = leveldb_writebatch_create();
	leveldb_options_set_create_if_missing(database->options, use == ENGINE_CREATE);
	leveldb_options_set_error_if_exists(database->options, use == ENGINE_CREATE);
	/* A workload's value stands for bytes that do not compress, and is one letter repeated. */
	leveldb_options_set_compression(database->options, leveldb_no_compression);
	leveldb_options_set_write_buffer_size(database->options,
					      (size_t)settings[WRITE_BUFFER_SIZE]);
	leveldb_options_set_max_file_size(database->options, (size_t)settings[MAX_FILE_SIZE]);
	if (settings[BLOOM_BITS] > 0) {
		database->filter = leveldb_filterpolicy_create_bloom((int)settings[BLOOM_BITS]);
		leveldb_options_set_filter_policy(database->options, database->filter);
	}
	if (use == ENGINE_RUN) {
		database->background = settings[BACKGROUND];
		database->sync = settings[SYNC];
		database->sync_every = settings[SYNC_EVERY];
		database->cache = leveldb_cache_create_lru((size_t)settings[BLOCK_CACHE]);
		leveldb_options_set_cache(database->options, database->cache);
		index_blocks_set(database->options, settings[INDEX_BLOCKS]);
	}
	/* Not in a run, which has LevelDB's defaults: a damaged block is an error, and no other
	 * row. */
	if (use == ENGINE_VERIFY) {
		leveldb_options_set_paranoid_checks(database->options, 1);
		leveldb_readoptions_set_verify_checksums(database->read, 1);
	}
	if (database->background == INLINE)
		leveldb_options_set_env(database->options, environment_inline());
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	struct database *database = calloc(1, sizeof(*database));
	struct opening opening = {.path = path};

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->use = use;
	set_options(database, options);
	opening.options = database->options;
	if (!index_blocks_check(options->settings[INDEX_BLOCKS], error) ||
	    !key_values_open(&database->key_values, options, workload, error)) {
		drop(database);
		return NULL;
	}
	if (database->background == INLINE) {
		open_here(&opening);
	} else if (engine_files_recorded()) {
		error_set(error,
			  "--vfs-log, --written: with --background thread %s has no log of "
			  "its calls",
			  engine.title());
		drop(database);
		return NULL;
	} else if (!open_by_thread(&opening, error)) {
		drop(database);
		return NULL;
	}
	database->db = opening.db;
	if (call_failed("opening the database", opening.message, error)) {
		drop(database);
		return NULL;
	}
	return database;
}

bool rows_write(struct database *database, struct error *error)
{
	char *message = NULL;

	database->written++;
	/* 0 where it is no run */
	if (database->sync_every > 0)
		leveldb_writeoptions_set_sync(
			database->write,
			database->sync > 0 && database->written % database->sync_every == 0);
	leveldb_write(database->db, database->write, database->batch, &message);
	environment_drain();
	leveldb_writebatch_clear(database->batch);
	return !call_failed("writing a batch", message, error);
}

void rows_were_read(void)
{
	environment_drain();
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = true;

	if (database->use == ENGINE_CREATE) {
		closed = rows_write(database, error);
		/* What is written to a table is synced; and the run begins with no compaction
		 * due. */
		if (closed)
			closed = !call_failed("compacting", compaction_all(database->db), error);
	} else if (database->background == THREAD) {
		/* A table that is half written would be dropped, and the next open do it again. */
		compact_nothing(database->db);
	}
	drop(database);
	return closed;
}

/* Before a run, too, each block is checked. */
static bool scan(struct database *database, int64_t *rows, struct error *error)
{
	bool read;

	leveldb_readoptions_set_verify_checksums(database->read, 1);
	read = key_values_scan(database, rows, error);
	leveldb_readoptions_set_verify_checksums(database->read, database->use == ENGINE_VERIFY);
	return read;
}

static bool maintain(struct database *database, struct error *error)
{
	return !call_failed("compacting", compaction_all(database->db), error);
}

const struct engine engine = {
	KEY_VALUES_HOOKS,
	.name = "leveldb",
	.file_roles = leveldb_roles,
	.open = open_database,
	.close = close_database,
	.remove = calls_remove,
	.maintain = maintain,
	.scan = scan,
	.file_sizes = leveldb_file_sizes,
	.log_end = engine_files_end,
};

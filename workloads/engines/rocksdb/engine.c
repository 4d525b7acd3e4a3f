/* Hooks of engine.h for RocksDB, by its C API: opens, fills, commits (a batch, synced or
 * not), compacts, closes and removes a database. */
#include "engine.h"

#include <limits.h>
#include <stdlib.h>

#include "database.h"
#include "engine_files.h"
#include "files.h"
#include "rocksdb_release.h"

static void drop(struct database *database)
{
	if (database->db != NULL)
		rocksdb_close(database->db);
	rocksdb_options_destroy(database->options);
	rocksdb_readoptions_destroy(database->read);
	rocksdb_writeoptions_destroy(database->write);
	rocksdb_writebatch_destroy(database->batch);
#if ROCKSDB_MAJOR >= 9
	rocksdb_wait_for_compact_options_destroy(database->wait);
#endif
	key_values_close(&database->key_values);
	free(database);
}

static bool open_with(struct database *database, const char *path, const struct options *options,
		      struct error *error)
{
	char name[PATH_MAX], *message = NULL;

	/* RocksDB opens some LevelDB files as its own and aborts on others. */
	if (database->use != ENGINE_CREATE && !settings_file(path, name, sizeof(name)))
		return error_set(error, "opening %s: there is no OPTIONS: not a database of %s",
				 path, engine.title());
	if (!settings_set(database, options, error))
		return false;
	if (database->background == THREAD && engine_files_recorded())
		return error_set(error,
				 "--vfs-log, --written: with --background thread %s has no log of "
				 "its calls",
				 engine.title());
	background_begin(database);
	files_watch(path, &file_hooks);
	rocksdb_options_set_create_if_missing(database->options, database->use == ENGINE_CREATE);
	rocksdb_options_set_error_if_exists(database->options, database->use == ENGINE_CREATE);
	database->db = rocksdb_open(database->options, path, &message);
	return !call_failed("opening the database", message, error) &&
	       (database->background == THREAD || background_finish(database, error)) &&
	       (database->use != ENGINE_RUN || settings_read_back(database, path, error));
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	struct database *database = calloc(1, sizeof(*database));

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->use = use;
	database->logs = true;
	database->options = rocksdb_options_create();
	database->read = rocksdb_readoptions_create();
	database->write = rocksdb_writeoptions_create();
	database->batch = rocksdb_writebatch_create();
#if ROCKSDB_MAJOR >= 9
	database->wait = rocksdb_wait_for_compact_options_create();
#endif
	if (key_values_open(&database->key_values, options, workload, error) &&
	    open_with(database, path, options, error))
		return database;
	drop(database);
	return NULL;
}

/* Moves what is in memory to tables, and all tables to the last level. */
static bool compact(struct database *database, struct error *error)
{
	rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
	char *message = NULL;

	rocksdb_flush(database->db, options, &message);
	rocksdb_flushoptions_destroy(options);
	if (call_failed("flushing", message, error))
		return false;
	rocksdb_compact_range(database->db, NULL, 0, NULL, 0);
	return background_finish(database, error) && background_check(database, error);
}

bool rows_write(struct database *database, struct error *error)
{
	uint64_t begin = engine_files_now();
	char *message = NULL;
	size_t size;

	rocksdb_write(database->db, database->write, database->batch, &message);
	if (call_failed("writing a batch", message, error))
		return false;
	if (!database->logs) {
		rocksdb_writebatch_data(database->batch, &size);
		files_kept(rocksdb_get_latest_sequence_number(database->db),
			   (size_t)rocksdb_writebatch_count(database->batch), size, begin);
	}
	rocksdb_writebatch_clear(database->batch);
	return database->background == THREAD || background_finish(database, error);
}

/* RocksDB makes no compaction due by reads. */
void rows_were_read(void)
{
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = true;

	/* Tables are synced when they are written; and the run begins with no compaction due. */
	if (database->use == ENGINE_CREATE)
		closed = rows_write(database, error) && compact(database, error);
	else if (database->use == ENGINE_RUN)
		/* A table that is half written would be dropped, and the next open do it again. */
		closed = background_finish(database, error) && background_check(database, error);
	drop(database);
	return closed;
}

const struct engine engine = {
	KEY_VALUES_HOOKS,      .name = "rocksdb",	.file_roles = roles,
	.open = open_database, .close = close_database, .remove = calls_remove,
	.maintain = compact,   .scan = key_values_scan, .file_sizes = files_sizes,
	.log_end = files_end,
};

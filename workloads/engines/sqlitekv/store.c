/* Opens a LevelDB database once for all tables of a connection, reads and writes keys in a
 * transaction in memory, with savepoints, commits it as one write batch or rolls it back, and
 * deletes a dropped table's keys. */
#include "kv.h"

#include <stdarg.h>
#include <string.h>

/* As in the study's LSM tree, tables have filters; LevelDB's documentation uses ten bits a key. */
enum { FILTER_BITS = 10 };

/* Bytes of keys that are deleted as one batch. */
enum { DELETE_BYTES = 1 << 20 };

int kv_fail(char **message, int code, const char *format, ...)
{
	va_list arguments;
	char *text, *line;

	va_start(arguments, format);
	text = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	line = text != NULL ? sqlite3_mprintf("sqlitekv: %s", text) : NULL;
	sqlite3_free(text);
	if (line == NULL)
		return SQLITE_NOMEM;
	sqlite3_free(*message);
	*message = line;
	return code;
}

int store_error(const char *path, char *error, char **message)
{
	int code = SQLITE_IOERR;

	if (error == NULL)
		return SQLITE_OK;
	/* it has bytes of keys in some messages */
	for (char *byte = error; *byte != '\0'; byte++)
		if (*byte < ' ' || *byte > '~')
			*byte = '?';
	if (strncmp(error, "Corruption", 10) == 0)
		code = SQLITE_CORRUPT_VTAB;
	else if (strstr(error, "No space left") != NULL ||
		 strstr(error, "File too large") != NULL || strstr(error, "quota") != NULL)
		code = SQLITE_FULL;
	code = kv_fail(message, code, "%s: %s", path, error);
	leveldb_free(error);
	return code;
}

static void drop(struct store *store)
{
	if (store->db != NULL)
		leveldb_close(store->db);
	registry_remove(store);
	leveldb_options_destroy(store->options);
	leveldb_readoptions_destroy(store->read);
	leveldb_writeoptions_destroy(store->write);
	leveldb_writebatch_destroy(store->batch);
	leveldb_filterpolicy_destroy(store->filter);
	overlay_free(&store->overlay);
	cache_free(store->cache);
	sqlite3_free(store->savepoints);
	sqlite3_free(store->path);
	sqlite3_free(store);
}

/* What is read is checked: a damaged block is an error, and not another row. */
static void set_options(struct store *store, leveldb_env_t *environment, bool create)
{
	store->options = leveldb_options_create();
	store->read = leveldb_readoptions_create();
	store->write = leveldb_writeoptions_create();
	store->batch = leveldb_writebatch_create();
	store->filter = leveldb_filterpolicy_create_bloom(FILTER_BITS);
	leveldb_options_set_create_if_missing(store->options, create);
	leveldb_options_set_paranoid_checks(store->options, 1);
	leveldb_options_set_filter_policy(store->options, store->filter);
	leveldb_options_set_compression(store->options, leveldb_no_compression);
	if (environment != NULL)
		leveldb_options_set_env(store->options, environment);
	leveldb_readoptions_set_verify_checksums(store->read, 1);
	leveldb_writeoptions_set_sync(store->write, store->sync);
}

static int open_database(struct store *store, bool create, char **message)
{
	char *error = NULL;
	int result = identity_check_folder(store->path, create, message);

	if (result != SQLITE_OK)
		return result;
	store->db = leveldb_open(store->options, store->path, &error);
	/* LevelDB's lock: a program without this module has it open */
	if (error != NULL && strncmp(error, "IO error: lock ", 15) == 0) {
		leveldb_free(error);
		return kv_fail(message, SQLITE_BUSY, "%s is in use", store->path);
	}
	result = store_error(store->path, error, message);
	return result == SQLITE_OK ? identity_check(store, create, message) : result;
}

static int set_cache(struct store *store, const struct store_options *options)
{
	if (!options->cache_given || store->cache_given)
		return SQLITE_OK;
	if (options->cache_size > 0) {
		store->cache = cache_create((size_t)options->cache_size);
		if (store->cache == NULL)
			return SQLITE_NOMEM;
	}
	store->cache_size = options->cache_size;
	store->cache_given = true;
	return SQLITE_OK;
}

/* An option that no table has given so far is as this one has it. */
static int use_again(struct store *store, const struct store_options *options, char **message)
{
	int result;

	if (options->sync_given && store->sync_given && options->sync != store->sync)
		return kv_fail(message, SQLITE_MISUSE, "%s is open with sync=%s", store->path,
			       store->sync ? "full" : "off");
	if (options->cache_given && store->cache_given && options->cache_size != store->cache_size)
		return kv_fail(message, SQLITE_MISUSE, "%s is open with cache=%lld", store->path,
			       (long long)store->cache_size);
	result = set_cache(store, options);
	if (result != SQLITE_OK)
		return result;
	if (options->sync_given) {
		store->sync = options->sync;
		store->sync_given = true;
		leveldb_writeoptions_set_sync(store->write, store->sync);
	}
	store->references++;
	return SQLITE_OK;
}

int store_open(struct module *module, const char *path, const struct store_options *options,
	       bool create, struct store **opened, char **message)
{
	struct store *store, *same = NULL;
	int result;

	*opened = NULL;
	if (options->cache_given && options->cache_size != 0 && options->cache_size < CACHE_LEAST)
		return kv_fail(message, SQLITE_ERROR,
			       "a query cache of %lld bytes: it is 0, or at least %d",
			       (long long)options->cache_size, CACHE_LEAST);
	store = sqlite3_malloc64(sizeof(*store));
	if (store == NULL)
		return SQLITE_NOMEM;
	*store = (struct store){.module = module,
				.path = sqlite3_mprintf("%s", path),
				.folder = -1,
				.references = 1,
				.sync = !options->sync_given || options->sync,
				.sync_given = options->sync_given};
	result = store->path == NULL ? SQLITE_NOMEM : registry_add(store, create, &same, message);
	if (result == SQLITE_OK && same == NULL)
		result = set_cache(store, options);
	if (result == SQLITE_OK && same == NULL) {
		set_options(store, options->environment, create);
		if (options->set_more != NULL)
			options->set_more(store->options, options->value);
		result = open_database(store, create, message);
	}
	if (result == SQLITE_OK && same != NULL)
		result = use_again(same, options, message);
	if (result == SQLITE_OK)
		*opened = same != NULL ? same : store;
	if (*opened != store)
		drop(store);
	return result;
}

void store_close(struct store *store)
{
	if (--store->references == 0)
		drop(store);
}

int store_get(struct store *store, struct slice key, struct bytes *value, bool *found,
	      char **message)
{
	struct overlay_node *node =
		store->overlay.changes > 0 ? overlay_from(&store->overlay, key) : NULL;
	char *error = NULL, *data;
	size_t size;

	if (node != NULL && node->newest != NULL && slice_compare(node->key, key) == 0) {
		/* an empty value is that of a deleted row, as the study deletes */
		*found = !node->newest->deleted && node->newest->value.size > 0;
		bytes_set(value, node->newest->value);
		return value->failed ? SQLITE_NOMEM : SQLITE_OK;
	}
	data = leveldb_get(store->db, store->read, (const char *)key.data, key.size, &size, &error);
	*found = data != NULL && size > 0;
	if (error != NULL)
		return store_error(store->path, error, message);
	if (data != NULL)
		bytes_set(value, (struct slice){(unsigned char *)data, size});
	leveldb_free(data);
	return data != NULL && value->failed ? SQLITE_NOMEM : SQLITE_OK;
}

/* A cached query of this key is no longer right. */
static int change(struct store *store, struct slice key, struct slice value, bool deleted)
{
	if (store->cache != NULL)
		cache_erase(store->cache, CACHE_ROW, key);
	return overlay_add(&store->overlay, key, value, deleted) ? SQLITE_OK : SQLITE_NOMEM;
}

int store_put(struct store *store, struct slice key, struct slice value)
{
	return change(store, key, value, false);
}

int store_delete(struct store *store, struct slice key)
{
	return change(store, key, (struct slice){NULL, 0}, true);
}

struct cache *store_cache(const struct store *store)
{
	return store->overlay.changes == 0 ? store->cache : NULL;
}

void store_next_epoch(struct store *store, struct shared_table *table)
{
	table->epoch = ++store->epoch;
}

/* Empties the transaction. */
static void end(struct store *store)
{
	overlay_clear(&store->overlay);
	store->savepoint_count = 0;
}

static void forget_last_rowids(struct store *store)
{
	for (struct shared_table *table = store->tables; table != NULL; table = table->next)
		table->last_is_valid = false;
}

void store_rollback(struct store *store)
{
	end(store);
	forget_last_rowids(store);
}

static void fill_batch(struct store *store)
{
	struct overlay_node *node = store->overlay.head[0];

	leveldb_writebatch_clear(store->batch);
	for (; node != NULL; node = node->next[0]) {
		const struct overlay_version *version = node->newest;

		if (version == NULL)
			continue;
		if (store->cache != NULL)
			cache_erase(store->cache, CACHE_ROW, node->key);
		if (version->deleted)
			leveldb_writebatch_delete(store->batch, (const char *)node->key.data,
						  node->key.size);
		else
			leveldb_writebatch_put(store->batch, (const char *)node->key.data,
					       node->key.size, (const char *)version->value.data,
					       version->value.size);
	}
}

/* After a failed write, a further one could follow a part of a record in LevelDB's log, and a
 * recovery would lose it. */
static int write_batch(struct store *store, char **message)
{
	char *error = NULL;
	int result;

	if (store->failed)
		return kv_fail(message, SQLITE_IOERR,
			       "%s: an earlier write failed; close the database and open it again",
			       store->path);
	leveldb_write(store->db, store->write, store->batch, &error);
	result = store_error(store->path, error, message);
	store->failed = result != SQLITE_OK;
	return result;
}

int store_commit(struct store *store, char **message)
{
	int result = SQLITE_OK;

	if (store->overlay.changes > 0) {
		fill_batch(store);
		result = write_batch(store, message);
	}
	if (result == SQLITE_OK)
		end(store);
	return result;
}

/* SQLite calls it for each table of the transaction, and for one that joins with the last savepoint
 * only: nothing was changed since the earlier ones. */
int store_savepoint(struct store *store, int number)
{
	size_t needed = (size_t)number + 1;

	if (needed > store->savepoint_capacity) {
		size_t *larger = sqlite3_realloc64(store->savepoints, 2 * needed * sizeof(*larger));

		if (larger == NULL)
			return SQLITE_NOMEM;
		store->savepoints = larger;
		store->savepoint_capacity = 2 * needed;
	}
	while (store->savepoint_count < needed)
		store->savepoints[store->savepoint_count++] = store->overlay.changes;
	return SQLITE_OK;
}

void store_release(struct store *store, int number)
{
	if (store->savepoint_count > (size_t)number)
		store->savepoint_count = (size_t)number;
}

/* The number is -1 for a SAVEPOINT that began the transaction: SQLite reports none of it before. */
void store_rollback_to(struct store *store, int number)
{
	if (number < 0) {
		overlay_undo(&store->overlay, 0);
		store->savepoint_count = 0;
	} else if (store->savepoint_count > (size_t)number) {
		overlay_undo(&store->overlay, store->savepoints[number]);
		store->savepoint_count = (size_t)number + 1;
	}
	forget_last_rowids(store);
}

int store_delete_prefix(struct store *store, struct slice prefix, char **message)
{
	leveldb_iterator_t *key = leveldb_create_iterator(store->db, store->read);
	size_t bytes = 0;
	char *error = NULL;
	int result = SQLITE_OK;

	leveldb_writebatch_clear(store->batch);
	leveldb_iter_seek(key, (const char *)prefix.data, prefix.size);
	for (; result == SQLITE_OK && leveldb_iter_valid(key); leveldb_iter_next(key)) {
		struct slice found;

		found.data = (const unsigned char *)leveldb_iter_key(key, &found.size);
		if (!slice_begins_with(found, prefix))
			break;
		leveldb_writebatch_delete(store->batch, (const char *)found.data, found.size);
		bytes += found.size;
		if (bytes >= DELETE_BYTES) {
			result = write_batch(store, message);
			leveldb_writebatch_clear(store->batch);
			bytes = 0;
		}
	}
	leveldb_iter_get_error(key, &error);
	leveldb_iter_destroy(key);
	if (error != NULL)
		return store_error(store->path, error, message);
	if (result == SQLITE_OK && bytes > 0)
		result = write_batch(store, message);
	return result;
}

/* Hooks of engine.h for LMDB: opens, syncs, closes and removes a database, which is a folder with
 * a memory-mapped file of pages and a lock file. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database.h"
#include "engine_files.h"
#include "fail.h"
#include "folder.h"
#include "key_values/files.h"

enum { DATA, LOCK, FILES };
static const char *const files[] = {[DATA] = "data.mdb", [LOCK] = "lock.mdb"};
static const char *const roles[] = {[DATA] = "data", [LOCK] = "lock", NULL};
/* The database is written by its map. */
static bool stores;

bool call_succeeded(const char *operation, int result, struct error *error)
{
	if (result == MDB_SUCCESS)
		return true;
	return error_set(error, "%s failed: %s%s", operation, mdb_strerror(result),
			 result == MDB_MAP_FULL ? "; use a larger --map-size" : "");
}

struct key_values *key_values_of(struct database *database)
{
	return &database->key_values;
}

static void drop(struct database *database)
{
	if (database->transaction != NULL)
		mdb_txn_abort(database->transaction);
	if (database->environment != NULL)
		mdb_env_close(database->environment);
	key_values_close(&database->key_values);
	free(database);
}

static void give_up(MDB_env *environment, const char *text)
{
	fault_abort(text);
}

/* LMDB would make a missing file. */
static bool find_data(const char *path, struct error *error)
{
	char name[PATH_MAX];

	if (snprintf(name, sizeof(name), "%s/%s", path, files[DATA]) < (int)sizeof(name) &&
	    access(name, F_OK) == 0)
		return true;
	return error_set(error, "opening %s: there is no %s: not a database of %s", path,
			 files[DATA], settings_title());
}

/* FILES: it is no file of LMDB's. */
static size_t role_of(const char *name)
{
	size_t role = 0;

	while (role < FILES && strcmp(name, files[role]) != 0)
		role++;
	return role;
}

/* The lock table is not synced, and stores to a map are not seen. */
static unsigned logged_role(const char *name, bool *compared)
{
	size_t role = role_of(name);

	*compared = role == DATA && !stores;
	return role < FILES ? (unsigned)role : NO_ROLE;
}

/* LMDB syncs no folder. */
static const struct file_hooks hooks = {
	.role = logged_role, .mapped_role = DATA, .stream_role = NO_ROLE};

static bool open_environment(struct database *database, const char *path, int64_t map_size,
			     unsigned int flags, struct error *error)
{
	if (database->use == ENGINE_CREATE) {
		if (mkdir(path, 0777) != 0)
			return error_set(error, "making %s: %s", path, strerror(errno));
	} else if (!find_data(path, error)) {
		return false;
	}
	return call_succeeded("making an environment", mdb_env_create(&database->environment),
			      error) &&
	       call_succeeded("setting the hook of assertions",
			      mdb_env_set_assert(database->environment, give_up), error) &&
	       (map_size == 0 ||
		call_succeeded("setting the map's size",
			       mdb_env_set_mapsize(database->environment, (size_t)map_size),
			       error)) &&
	       call_succeeded("opening the database",
			      mdb_env_open(database->environment, path, flags, 0666), error) &&
	       transaction_begin(database, false, error) &&
	       transaction_end(
		       database,
		       call_succeeded("opening the rows",
				      mdb_dbi_open(database->transaction, NULL, 0, &database->rows),
				      error),
		       error) &&
	       /* of the rows that are loaded */
	       (database->use != ENGINE_CREATE || transaction_begin(database, true, error));
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	struct database *database = calloc(1, sizeof(*database));
	int64_t map_size = options->settings[MAP_SIZE];
	unsigned int flags = settings_flags(options);

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->use = use;
	stores = (flags & MDB_WRITEMAP) != 0;
	files_watch(path, &hooks);
	if (use == ENGINE_CREATE) {
		flags = MDB_NOSYNC; /* synced when it is closed */
	} else if (use == ENGINE_VERIFY) {
		flags = MDB_RDONLY;
		map_size = 0; /* that of the database */
	}
	if (key_values_open(&database->key_values, options, workload, error) &&
	    open_environment(database, path, map_size, flags, error))
		return database;
	drop(database);
	return NULL;
}

/* LMDB never syncs the folder. */
static bool sync_created(struct database *database, struct error *error)
{
	const char *path;
	bool synced;
	int folder;

	if (!call_succeeded("syncing", mdb_env_sync(database->environment, 1), error) ||
	    !call_succeeded("reading the path", mdb_env_get_path(database->environment, &path),
			    error))
		return false;
	folder = open(path, O_RDONLY | O_CLOEXEC);
	synced = folder >= 0 && fsync(folder) == 0;
	if (!synced)
		error_set(error, "syncing %s: %s", path, strerror(errno));
	if (folder >= 0)
		close(folder);
	return synced;
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = true;

	if (database->transaction != NULL)
		closed = transaction_end(database, true, error);
	if (closed && database->use == ENGINE_CREATE)
		closed = sync_created(database, error);
	drop(database);
	return closed;
}

static bool remove_database(const char *path, struct error *error)
{
	char name[PATH_MAX];

	for (size_t i = 0; i < FILES; i++) {
		if (snprintf(name, sizeof(name), "%s/%s", path, files[i]) >= (int)sizeof(name))
			return error_set(error, "removing %s: its name is too long", path);
		if (unlink(name) != 0 && errno != ENOENT)
			return error_set(error, "removing %s: %s", name, strerror(errno));
	}
	return rmdir(path) == 0 || errno == ENOENT ||
	       error_set(error, "removing %s: %s", path, strerror(errno));
}

static bool maintain(struct database *database, struct error *error)
{
	return call_succeeded("syncing", mdb_env_sync(database->environment, 1), error);
}

static size_t file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	return folder_sizes(path, roles, FILES, role_of, sizes);
}

const struct engine engine = {
	KEY_VALUES_HOOKS,
	.name = "lmdb",
	.maps_files = true,
	.file_roles = roles,
	.open = open_database,
	.close = close_database,
	.remove = remove_database,
	.maintain = maintain,
	.scan = key_values_scan,
	.file_sizes = file_sizes,
	.log_end = engine_files_end,
};

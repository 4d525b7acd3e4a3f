/* The VFS "ssl" around the default one: opens a database with a log exclusively, recovers it and
 * keeps its WAL in memory, rejects one with a live log that is opened otherwise, and leaves all
 * other files to the default VFS. */
#include <string.h>

#include "state.h"

_Thread_local struct ssl *ssl_current;
bool vfs_adopts;
_Thread_local bool vfs_absent;

static sqlite3_vfs vfs;

/* Databases with a log, found by their names and their WALs'. */
static struct ssl *open_databases;

struct ssl *vfs_find(const char *path)
{
	struct ssl *found = NULL;

	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	for (struct ssl *ssl = open_databases; ssl != NULL; ssl = ssl->next)
		if (strcmp(ssl->path, path) == 0 || strcmp(ssl->wal_path, path) == 0)
			found = ssl;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	return found;
}

void vfs_add(struct ssl *ssl)
{
	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	ssl->next = open_databases;
	open_databases = ssl;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}

void vfs_remove(struct ssl *ssl)
{
	struct ssl **link = &open_databases;

	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	while (*link != NULL && *link != ssl)
		link = &(*link)->next;
	if (*link != NULL)
		*link = ssl->next;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}

/* Opens one of our databases exclusively, recovered except for its statements. */
static int open_database(struct ssl *ssl, const char *name, struct vfs_file *file, int flags,
			 int *out)
{
	int result;

	TRY(file_open(name, flags, &ssl->database));
	if (out != NULL)
		*out = flags;
	result = ssl->database->pMethods->xLock(ssl->database, SQLITE_LOCK_SHARED);
	if (result == SQLITE_OK)
		result = ssl->database->pMethods->xLock(ssl->database, SQLITE_LOCK_EXCLUSIVE);
	if ((result & 0xff) == SQLITE_BUSY)
		error_set(ssl->error, "%s is in use", ssl->path);
	if (result == SQLITE_OK && ssl->options.atomic)
		result = atomic_check(ssl);
	if (result == SQLITE_OK)
		result = recover_files(ssl);
	if (result == SQLITE_OK) {
		file->ssl = ssl;
		file->base.pMethods = &vfs_database;
		return SQLITE_OK;
	}
	file_close(&ssl->wal);
	log_close(&ssl->log);
	file_close(&ssl->database);
	atomic_close(ssl);
	return result;
}

/* A database that is opened without its log. */
static int refuse_live(const char *name, sqlite3_file *file)
{
	uint8_t head[100];

	if (file->pMethods->xRead(file, head, sizeof(head), 0) != SQLITE_OK || !mark_any(head))
		return SQLITE_OK;
	file->pMethods->xClose(file);
	file->pMethods = NULL;
	sqlite3_log(SQLITE_CANTOPEN, "%s has a live %s: ssl_open opens it", name, log_kind.name);
	return SQLITE_CANTOPEN;
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *base, int flags, int *out)
{
	struct vfs_file *file = (struct vfs_file *)base;
	struct ssl *ssl = name != NULL ? vfs_find(name) : NULL;
	int result;

	base->pMethods = NULL;
	if (ssl != NULL && (flags & SQLITE_OPEN_MAIN_DB) != 0 && ssl->database == NULL)
		return open_database(ssl, name, file, flags, out);
	if (ssl != NULL && (flags & SQLITE_OPEN_WAL) != 0) {
		file->ssl = ssl;
		base->pMethods = &vfs_wal;
		if (out != NULL)
			*out = flags;
		return SQLITE_OK;
	}
	if (vfs_adopts && (flags & SQLITE_OPEN_MAIN_DB) != 0)
		vfs_absent = name != NULL && file_absent(name);
	result = ssl_wrapped->xOpen(ssl_wrapped, name, base, flags, out);
	if (result == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0 && !vfs_adopts)
		result = refuse_live(name, base);
	return result;
}

static bool is_wal(const char *name)
{
	const struct ssl *ssl = vfs_find(name);

	return ssl != NULL && strcmp(name, ssl->wal_path) == 0;
}

static int delete_file(sqlite3_vfs *self, const char *name, int sync_directory)
{
	if (!is_wal(name))
		return ssl_wrapped->xDelete(ssl_wrapped, name, sync_directory);
	return memory_truncate(&vfs_find(name)->memory, 0);
}

static int access_file(sqlite3_vfs *self, const char *name, int flags, int *result)
{
	if (!is_wal(name))
		return ssl_wrapped->xAccess(ssl_wrapped, name, flags, result);
	*result = vfs_find(name)->memory.begun;
	return SQLITE_OK;
}

static int current_time_int64(sqlite3_vfs *self, sqlite3_int64 *now)
{
	int result = ssl_wrapped->xCurrentTimeInt64(ssl_wrapped, now);

	*now = connection_time(*now);
	return result;
}

bool vfs_is_ours(const sqlite3_vfs *of_file)
{
	return of_file == &vfs;
}

int vfs_adopt(struct ssl *ssl, sqlite3_file *base, const char *name)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB, result;

	base->pMethods->xClose(base);
	base->pMethods = NULL;
	result = open_database(ssl, name, (struct vfs_file *)base, flags, NULL);
	if (result != SQLITE_OK)
		ssl_wrapped->xOpen(ssl_wrapped, name, base, flags, NULL);
	return result;
}

void vfs_release(struct ssl *ssl, sqlite3_file *base, const char *name)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_MAIN_DB;

	if (base->pMethods == &vfs_database) {
		base->pMethods->xClose(base);
		base->pMethods = NULL;
		ssl_wrapped->xOpen(ssl_wrapped, name, base, flags, NULL);
	}
	vfs_remove(ssl);
	if (ssl->absent)
		database_unmake(ssl->path, ssl);
	ssl->absent = false;
}

int vfs_register(void)
{
	sqlite3_vfs *now;

	if (ssl_wrapped != NULL)
		return SQLITE_OK;
	now = sqlite3_vfs_find(NULL);
	if (now == NULL || now->iVersion < 2)
		return SQLITE_MISUSE;
	vfs = *now;
	vfs.zName = log_kind.vfs;
	if (vfs.szOsFile < (int)sizeof(struct vfs_file))
		vfs.szOsFile = (int)sizeof(struct vfs_file);
	vfs.pNext = NULL;
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = access_file;
	vfs.xCurrentTimeInt64 = current_time_int64;
	ssl_wrapped = now;
	return sqlite3_vfs_register(&vfs, 0);
}

/* The VFS "ssl" around the default one. Of a database that ssl_open opens it keeps the WAL in
 * memory, makes commits durable when SQLite syncs that, and lets nothing write to the database but
 * a checkpoint. Any other file is the wrapped VFS's own; a database with a live log is not opened
 * otherwise. */
#include <string.h>

#include "state.h"

_Thread_local struct ssl *ssl_current;
bool vfs_adopts;

static sqlite3_vfs vfs;

/* What SQLite has of a file of ours. */
struct file {
	sqlite3_file base;
	struct ssl *ssl;
};

static struct ssl *of(sqlite3_file *file)
{
	return ((struct file *)file)->ssl;
}

/* The WAL */

static int wal_close(sqlite3_file *file)
{
	(void)file;
	return SQLITE_OK;
}

static int wal_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
	return memory_read(&of(file)->memory, data, size, offset);
}

static int wal_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
	return observed_keep(of(file), data, size, offset);
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return memory_truncate(&of(file)->memory, size);
}

static int wal_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	return commit_durable(of(file));
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = memory_size(&of(file)->memory);
	return SQLITE_OK;
}

/* Locks: the database is locked from its opening on. */

static int no_lock(sqlite3_file *file, int lock)
{
	(void)file;
	(void)lock;
	return SQLITE_OK;
}

static int no_reserved_lock(sqlite3_file *file, int *reserved)
{
	(void)file;
	*reserved = 0;
	return SQLITE_OK;
}

static int wal_control(sqlite3_file *file, int op, void *argument)
{
	(void)file;
	(void)op;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xSectorSize(real);
}

/* In memory all is in order, and SQLite neither syncs the WAL's header nor fills its last sector.
 */
static int characteristics(sqlite3_file *file)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xDeviceCharacteristics(real) | SQLITE_IOCAP_SEQUENTIAL |
	       SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods wal_methods = {
	1,
	wal_close,
	wal_read,
	wal_write,
	wal_truncate,
	wal_sync,
	wal_size,
	no_lock,
	no_lock,
	no_reserved_lock,
	wal_control,
	sector_size,
	characteristics,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
};

/* The database */

static int database_close(sqlite3_file *file)
{
	struct ssl *ssl = of(file);
	int result;

	if (ssl->adopted) {
		/* there is no ssl_close */
		checkpoint(ssl, SSL_REQUESTED);
		ssl->closing = true;
	}
	result = end_files(ssl);
	file_close(&ssl->wal);
	log_close(&ssl->log);
	file_close(&ssl->database);
	atomic_close(ssl);
	if (ssl->adopted)
		vfs_remove(ssl);
	return result;
}

static int database_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
	enum { HEADER = 100, LEAST = 512 };
	sqlite3_file *real = of(file)->database;
	uint8_t head[LEAST];
	int64_t end = offset + size < HEADER ? offset + size : HEADER;
	int result =
		file_short(real, real->pMethods->xRead(real, data, size, offset), offset + size);

	if (offset >= HEADER || (result != SQLITE_OK && result != SQLITE_IOERR_SHORT_READ))
		return result;
	/* without knowing whether it is marked nothing of it can be told */
	if (result == SQLITE_OK)
		result = file_read(real, head, sizeof(head), 0);
	if (result != SQLITE_OK || !mark_any(head))
		return result;
	mark_hide(head);
	memcpy(data, head + offset, (size_t)(end - offset));
	return result;
}

/* SQLite's own checkpoint: it is done, or is made now. */
static int database_copied(struct ssl *ssl)
{
	const struct memory *memory = &ssl->memory;
	int result = SQLITE_OK;

	/* SQLite makes one, too, when it closes a database whose recovery failed in its middle */
	if (memory->ends > memory->committed || ssl->replaying)
		return SQLITE_IOERR_WRITE;
	if (memory->committed > memory->copied)
		result = checkpoint(ssl, SSL_REQUESTED);
	return result;
}

static int database_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
	(void)data;
	(void)size;
	(void)offset;
	return database_copied(of(file));
}

static int database_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	(void)size;
	return database_copied(of(file));
}

static int database_sync(sqlite3_file *file, int flags)
{
	(void)flags;
	return database_copied(of(file));
}

static int database_size(sqlite3_file *file, sqlite3_int64 *size)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xFileSize(real, size);
}

/* What a commit's durability, or the one connection, hangs on. Each may be asked for, and be set to
 * what it is, as programs do that are not told of a log. */
static int refuse_pragma(struct ssl *ssl, char **words)
{
	static const struct {
		const char *name, *value, *number;
	} fixed[] = {{"synchronous", "full", "2"},
		     {"wal_autocheckpoint", "0", "0"},
		     {"locking_mode", "exclusive", "exclusive"},
		     {"journal_mode", "wal", "wal"}};

	if (ssl->opening || words[2] == NULL)
		return SQLITE_NOTFOUND;
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (sqlite3_stricmp(words[1], fixed[i].name) == 0) {
			if (sqlite3_stricmp(words[2], fixed[i].value) == 0 ||
			    sqlite3_stricmp(words[2], fixed[i].number) == 0)
				return SQLITE_NOTFOUND;
			words[0] = sqlite3_mprintf("%s is %s in a database with a %s",
						   fixed[i].name, fixed[i].value, log_kind.name);
			return SQLITE_ERROR;
		}
	return SQLITE_NOTFOUND;
}

static int database_control(sqlite3_file *file, int op, void *argument)
{
	struct ssl *ssl = of(file);

	switch (op) {
	case SQLITE_FCNTL_COMMIT_PHASETWO:
		return commit_confirm(ssl);
	case SQLITE_FCNTL_PRAGMA:
		return refuse_pragma(ssl, argument);
	case SQLITE_FCNTL_VFSNAME:
		*(char **)argument = sqlite3_mprintf("%s", vfs.zName);
		return SQLITE_OK;
	default:
		return SQLITE_NOTFOUND;
	}
}

static const sqlite3_io_methods database_methods = {
	1,
	database_close,
	database_read,
	database_write,
	database_truncate,
	database_sync,
	database_size,
	no_lock,
	no_lock,
	no_reserved_lock,
	database_control,
	sector_size,
	characteristics,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
	NULL,
};

/* Opens a database that is ours, alone; recovered but for its statements. */
static int open_database(struct ssl *ssl, const char *name, struct file *file, int flags, int *out)
{
	int result;

	result = file_open(name, flags, &ssl->database);
	if (result != SQLITE_OK)
		return result;
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
		file->base.pMethods = &database_methods;
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
	struct file *file = (struct file *)base;
	struct ssl *ssl = name != NULL ? vfs_find(name) : NULL;
	int result;

	(void)self;
	base->pMethods = NULL;
	if (ssl != NULL && (flags & SQLITE_OPEN_MAIN_DB) != 0 && ssl->database == NULL)
		return open_database(ssl, name, file, flags, out);
	if (ssl != NULL && (flags & SQLITE_OPEN_WAL) != 0) {
		file->ssl = ssl;
		base->pMethods = &wal_methods;
		if (out != NULL)
			*out = flags;
		return SQLITE_OK;
	}
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
	(void)self;
	if (!is_wal(name))
		return ssl_wrapped->xDelete(ssl_wrapped, name, sync_directory);
	return memory_truncate(&vfs_find(name)->memory, 0);
}

static int access_file(sqlite3_vfs *self, const char *name, int flags, int *result)
{
	(void)self;
	if (!is_wal(name))
		return ssl_wrapped->xAccess(ssl_wrapped, name, flags, result);
	*result = vfs_find(name)->memory.begun;
	return SQLITE_OK;
}

static int current_time_int64(sqlite3_vfs *self, sqlite3_int64 *now)
{
	int result = ssl_wrapped->xCurrentTimeInt64(ssl_wrapped, now);

	(void)self;
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
	result = open_database(ssl, name, (struct file *)base, flags, NULL);
	/* SQLite closes it, once it has heard of the error */
	if (result != SQLITE_OK)
		ssl_wrapped->xOpen(ssl_wrapped, name, base, flags, NULL);
	return result;
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
	if (vfs.szOsFile < (int)sizeof(struct file))
		vfs.szOsFile = (int)sizeof(struct file);
	vfs.pNext = NULL;
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = access_file;
	vfs.xCurrentTimeInt64 = current_time_int64;
	ssl_wrapped = now;
	return sqlite3_vfs_register(&vfs, 0);
}

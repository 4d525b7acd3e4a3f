/* File methods of the VFS "ssl" (vfs.c) for a database and its WAL: the WAL is in memory and
 * durable when synced, only a checkpoint writes to the database, and pragmas that would change this
 * are rejected. */
#include <string.h>

#include "state.h"

static struct ssl *of(sqlite3_file *file)
{
	return ((struct vfs_file *)file)->ssl;
}

/* The WAL */

static int wal_close(sqlite3_file *file)
{
	return SQLITE_OK;
}

static int wal_read(sqlite3_file *file, void *data, int size, sqlite3_int64 offset)
{
	return memory_read(&of(file)->memory, data, size, offset);
}

static int wal_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
	struct ssl *ssl = of(file);
	uint64_t begin = observed_now(ssl);
	int result = memory_write(&ssl->memory, data, size, offset);

	/* a frame's header; its page comes next */
	if (result == SQLITE_OK && ssl->options.observer != NULL && size == FRAME_HEADER)
		ssl->options.observer->kept(ssl->options.observed, begin, offset,
					    ssl->memory.page_size, get32be(data));
	return result;
}

static int wal_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return memory_truncate(&of(file)->memory, size);
}

static int wal_sync(sqlite3_file *file, int flags)
{
	return commit_durable(of(file));
}

static int wal_size(sqlite3_file *file, sqlite3_int64 *size)
{
	*size = memory_size(&of(file)->memory);
	return SQLITE_OK;
}

/* Locks: the database is locked while open. */

static int no_lock(sqlite3_file *file, int lock)
{
	return SQLITE_OK;
}

static int no_reserved_lock(sqlite3_file *file, int *reserved)
{
	*reserved = 0;
	return SQLITE_OK;
}

static int wal_control(sqlite3_file *file, int op, void *argument)
{
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xSectorSize(real);
}

/* Memory needs neither a sync of the WAL's header nor padding of its last sector. */
static int characteristics(sqlite3_file *file)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xDeviceCharacteristics(real) | SQLITE_IOCAP_SEQUENTIAL |
	       SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

const sqlite3_io_methods vfs_wal = {
	.iVersion = 1,
	.xClose = wal_close,
	.xRead = wal_read,
	.xWrite = wal_write,
	.xTruncate = wal_truncate,
	.xSync = wal_sync,
	.xFileSize = wal_size,
	.xLock = no_lock,
	.xUnlock = no_lock,
	.xCheckReservedLock = no_reserved_lock,
	.xFileControl = wal_control,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
};

/* The database */

static int database_close(sqlite3_file *file)
{
	struct ssl *ssl = of(file);
	int result;

	if (ssl->adopted) {
		/* there is no ssl_close */
		result = checkpoint(ssl, SSL_REQUESTED);
		ssl->closing = true;
		if (result != SQLITE_OK)
			sqlite3_log(result, "%s keeps its %s: %s", ssl->path, log_kind.name,
				    sqlite3_errstr(result));
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
	/* until its mark is read nothing is known of it */
	if (result == SQLITE_OK)
		result = file_read(real, head, sizeof(head), 0);
	if (result != SQLITE_OK || !mark_any(head))
		return result;
	mark_hide(head);
	memcpy(data, head + offset, (size_t)(end - offset));
	return result;
}

/* SQLite's own checkpoint: already done, or made now. */
static int database_copied(struct ssl *ssl)
{
	const struct memory *memory = &ssl->memory;
	int result = SQLITE_OK;

	/* SQLite also makes one when it closes a database whose recovery failed midway */
	if (memory->ends > memory->committed || ssl->replaying)
		return SQLITE_IOERR_WRITE;
	if (memory->committed > memory->copied)
		result = checkpoint(ssl, SSL_REQUESTED);
	return result;
}

static int database_write(sqlite3_file *file, const void *data, int size, sqlite3_int64 offset)
{
	return database_copied(of(file));
}

static int database_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return database_copied(of(file));
}

static int database_sync(sqlite3_file *file, int flags)
{
	return database_copied(of(file));
}

static int database_size(sqlite3_file *file, sqlite3_int64 *size)
{
	sqlite3_file *real = of(file)->database;

	return real->pMethods->xFileSize(real, size);
}

/* Pragmas on which durability or exclusive use depends. Each may be read, and set to its current
 * value, as programs do that are unaware of a log. */
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
		*(char **)argument = sqlite3_mprintf("%s", log_kind.vfs);
		return SQLITE_OK;
	default:
		return SQLITE_NOTFOUND;
	}
}

const sqlite3_io_methods vfs_database = {
	.iVersion = 1,
	.xClose = database_close,
	.xRead = database_read,
	.xWrite = database_write,
	.xTruncate = database_truncate,
	.xSync = database_sync,
	.xFileSize = database_size,
	.xLock = no_lock,
	.xUnlock = no_lock,
	.xCheckReservedLock = no_reserved_lock,
	.xFileControl = database_control,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
};

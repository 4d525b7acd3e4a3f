#include "vfs_shim.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "fail.h"
#include "sqlite3.h"
#include "vfs_calls.h"

/* A transaction in DELETE mode makes about 25 calls that are noted. */
enum { CALLS_PER_TRANSACTION = 32, MAX_BLOCK = 1 << 18, MAX_VERSION = 3 };

/* An open file, followed in memory by that of the wrapped VFS. */
struct file {
	sqlite3_file base;
	sqlite3_file *real;
	struct file *next; /* open files */
	const char *name;  /* SQLite keeps it until the file is closed; NULL: temporary */
	uint64_t inode, shm_inode;
	enum vfs_file kind;
	bool directory_due; /* its next sync syncs its directory too */
};

static sqlite3_vfs shim;
static sqlite3_vfs *wrapped;
static struct file *files;
static bool noting;

static struct file *file_of(sqlite3_file *base)
{
	return (struct file *)base;
}

static sqlite3_file *real_of(sqlite3_file *base)
{
	return file_of(base)->real;
}

static void note(enum vfs_op op, enum vfs_file kind, uint64_t begin_ns, uint64_t inode,
		 int64_t offset, int64_t bytes)
{
	const struct vfs_call call = {begin_ns, clock_now(), inode, offset, bytes, op, kind};

	if (noting)
		vfs_calls_add(&call);
}

/* The inode of a path, 0 when there is none. */
static uint64_t inode_of(const char *path)
{
	struct stat status;

	return path != NULL && stat(path, &status) == 0 ? status.st_ino : 0;
}

static uint64_t shm_inode_of(const struct file *file)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s-shm", file->name);

	return length > 0 && (size_t)length < sizeof(path) ? inode_of(path) : 0;
}

static int close_file(sqlite3_file *base)
{
	struct file *file = file_of(base);
	struct file **link = &files;
	uint64_t begin = clock_now();
	int result = file->real->pMethods->xClose(file->real);

	note(VFS_CLOSE, file->kind, begin, file->inode, VFS_NOTHING, VFS_NOTHING);
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	return result;
}

static int read_file(sqlite3_file *base, void *buffer, int bytes, sqlite3_int64 offset)
{
	return real_of(base)->pMethods->xRead(real_of(base), buffer, bytes, offset);
}

static int write_file(sqlite3_file *base, const void *buffer, int bytes, sqlite3_int64 offset)
{
	struct file *file = file_of(base);
	uint64_t begin = clock_now();
	int result = file->real->pMethods->xWrite(file->real, buffer, bytes, offset);

	note(VFS_WRITE, file->kind, begin, file->inode, offset, bytes);
	return result;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *file = file_of(base);
	uint64_t begin = clock_now();
	int result = file->real->pMethods->xTruncate(file->real, size);

	note(VFS_TRUNCATE, file->kind, begin, file->inode, size, VFS_NOTHING);
	return result;
}

static int sync_file(sqlite3_file *base, int flags)
{
	struct file *file = file_of(base);
	uint64_t begin = clock_now();
	int result = file->real->pMethods->xSync(file->real, flags);

	note(VFS_SYNC, file->kind, begin, file->inode, VFS_NOTHING, flags);
	file->directory_due = false;
	return result;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	return real_of(base)->pMethods->xFileSize(real_of(base), size);
}

static int lock(sqlite3_file *base, int level)
{
	return real_of(base)->pMethods->xLock(real_of(base), level);
}

static int unlock(sqlite3_file *base, int level)
{
	return real_of(base)->pMethods->xUnlock(real_of(base), level);
}

static int check_reserved_lock(sqlite3_file *base, int *reserved)
{
	return real_of(base)->pMethods->xCheckReservedLock(real_of(base), reserved);
}

static int file_control(sqlite3_file *base, int op, void *argument)
{
	return real_of(base)->pMethods->xFileControl(real_of(base), op, argument);
}

static int sector_size(sqlite3_file *base)
{
	return real_of(base)->pMethods->xSectorSize(real_of(base));
}

static int device_characteristics(sqlite3_file *base)
{
	return real_of(base)->pMethods->xDeviceCharacteristics(real_of(base));
}

static int shm_map(sqlite3_file *base, int region, int bytes, int extend, void volatile **address)
{
	struct file *file = file_of(base);
	uint64_t begin = clock_now();
	int result = file->real->pMethods->xShmMap(file->real, region, bytes, extend, address);

	if (file->shm_inode == 0)
		file->shm_inode = shm_inode_of(file);
	note(VFS_SHM_MAP, VFS_SHM, begin, file->shm_inode, (int64_t)region * bytes, bytes);
	return result;
}

static int shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
	return real_of(base)->pMethods->xShmLock(real_of(base), offset, count, flags);
}

static void shm_barrier(sqlite3_file *base)
{
	real_of(base)->pMethods->xShmBarrier(real_of(base));
}

static int shm_unmap(sqlite3_file *base, int remove)
{
	file_of(base)->shm_inode = 0;
	return real_of(base)->pMethods->xShmUnmap(real_of(base), remove);
}

static int fetch(sqlite3_file *base, sqlite3_int64 offset, int bytes, void **address)
{
	return real_of(base)->pMethods->xFetch(real_of(base), offset, bytes, address);
}

static int unfetch(sqlite3_file *base, sqlite3_int64 offset, void *address)
{
	return real_of(base)->pMethods->xUnfetch(real_of(base), offset, address);
}

#define METHODS(version)                                                                      \
	{                                                                                     \
		.iVersion = (version), .xClose = close_file, .xRead = read_file,              \
		.xWrite = write_file, .xTruncate = truncate_file, .xSync = sync_file,         \
		.xFileSize = file_size, .xLock = lock, .xUnlock = unlock,                     \
		.xCheckReservedLock = check_reserved_lock, .xFileControl = file_control,      \
		.xSectorSize = sector_size, .xDeviceCharacteristics = device_characteristics, \
		.xShmMap = shm_map, .xShmLock = shm_lock, .xShmBarrier = shm_barrier,         \
		.xShmUnmap = shm_unmap, .xFetch = fetch, .xUnfetch = unfetch                  \
	}

/* A file must offer no more than the wrapped one does: the version says which
 * methods it has, and without xShmMap SQLite refuses WAL. */
static const sqlite3_io_methods methods[MAX_VERSION] = {METHODS(1), METHODS(2), METHODS(3)};

static enum vfs_file kind_of_flags(int flags)
{
	if ((flags & SQLITE_OPEN_MAIN_DB) != 0)
		return VFS_DATABASE;
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0)
		return VFS_JOURNAL;
	return (flags & SQLITE_OPEN_WAL) != 0 ? VFS_WAL : VFS_OTHER;
}

static enum vfs_file kind_of_name(const char *name)
{
	const char *suffix = strrchr(name, '-');

	if (suffix != NULL && strcmp(suffix, "-journal") == 0)
		return VFS_JOURNAL;
	return suffix != NULL && strcmp(suffix, "-wal") == 0 ? VFS_WAL : VFS_OTHER;
}

/* `bytes` of an open: the unix VFS syncs the directory of a journal or WAL
 * that it opened to create it with the first sync of that file. */
static void note_open(const struct file *file, uint64_t begin)
{
	note(VFS_OPEN, file->kind, begin, file->inode, VFS_NOTHING, file->directory_due);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		     int *out_flags)
{
	struct file *file = file_of(base);
	uint64_t begin = clock_now();
	int result, version;

	(void)vfs;
	memset(file, 0, sizeof(*file));
	file->real = (sqlite3_file *)(file + 1);
	result = wrapped->xOpen(wrapped, name, file->real, flags, out_flags);
	/* A file that has methods is closed by SQLite, even when opening it failed. */
	if (file->real->pMethods == NULL)
		return result;
	version = file->real->pMethods->iVersion;
	base->pMethods = &methods[(version < MAX_VERSION ? version : MAX_VERSION) - 1];
	file->name = name;
	file->inode = inode_of(name);
	file->kind = kind_of_flags(flags);
	file->directory_due = (flags & SQLITE_OPEN_CREATE) != 0 &&
			      (file->kind == VFS_JOURNAL || file->kind == VFS_WAL);
	file->next = files;
	files = file;
	note_open(file, begin);
	return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
	uint64_t begin = clock_now();
	int result = wrapped->xDelete(wrapped, name, sync_directory);

	(void)vfs;
	note(VFS_DELETE, kind_of_name(name), begin, 0, VFS_NOTHING, sync_directory != 0);
	return result;
}

static int access_path(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
	(void)vfs;
	return wrapped->xAccess(wrapped, name, flags, answer);
}

static int full_pathname(sqlite3_vfs *vfs, const char *name, int size, char *path)
{
	(void)vfs;
	return wrapped->xFullPathname(wrapped, name, size, path);
}

static int randomness(sqlite3_vfs *vfs, int bytes, char *buffer)
{
	(void)vfs;
	return wrapped->xRandomness(wrapped, bytes, buffer);
}

static int sleep_for(sqlite3_vfs *vfs, int microseconds)
{
	(void)vfs;
	return wrapped->xSleep(wrapped, microseconds);
}

static int current_time(sqlite3_vfs *vfs, double *days)
{
	(void)vfs;
	return wrapped->xCurrentTime(wrapped, days);
}

static int last_error(sqlite3_vfs *vfs, int bytes, char *text)
{
	(void)vfs;
	return wrapped->xGetLastError(wrapped, bytes, text);
}

static int current_time_int64(sqlite3_vfs *vfs, sqlite3_int64 *milliseconds)
{
	(void)vfs;
	return wrapped->xCurrentTimeInt64(wrapped, milliseconds);
}

static int set_system_call(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr call)
{
	(void)vfs;
	return wrapped->xSetSystemCall(wrapped, name, call);
}

static sqlite3_syscall_ptr get_system_call(sqlite3_vfs *vfs, const char *name)
{
	(void)vfs;
	return wrapped->xGetSystemCall(wrapped, name);
}

static const char *next_system_call(sqlite3_vfs *vfs, const char *name)
{
	(void)vfs;
	return wrapped->xNextSystemCall(wrapped, name);
}

void vfs_shim_register(size_t transactions)
{
	size_t calls = transactions * CALLS_PER_TRANSACTION;

	vfs_calls_open(calls < MAX_BLOCK ? calls : MAX_BLOCK);
	wrapped = sqlite3_vfs_find(NULL);
	if (wrapped == NULL || wrapped->iVersion != MAX_VERSION)
		fail("the VFS of SQLite %s is not of version %d", sqlite3_libversion(),
		     MAX_VERSION);
	/* The methods that load extensions stay as they are: no extension can be
	 * loaded (SQLITE_OMIT_LOAD_EXTENSION), and there are none. */
	shim = *wrapped;
	shim.zName = "commitpath-log";
	shim.szOsFile = (int)sizeof(struct file) + wrapped->szOsFile;
	shim.xOpen = open_file;
	shim.xDelete = delete_file;
	shim.xAccess = access_path;
	shim.xFullPathname = full_pathname;
	shim.xRandomness = randomness;
	shim.xSleep = sleep_for;
	shim.xCurrentTime = current_time;
	shim.xGetLastError = last_error;
	shim.xCurrentTimeInt64 = current_time_int64;
	shim.xSetSystemCall = set_system_call;
	shim.xGetSystemCall = get_system_call;
	shim.xNextSystemCall = next_system_call;
	if (sqlite3_vfs_register(&shim, 1) != SQLITE_OK)
		fail("SQLite %s does not take another VFS", sqlite3_libversion());
}

void vfs_shim_begin(void)
{
	noting = true;
	for (const struct file *file = files; file != NULL; file = file->next) {
		note_open(file, clock_now());
		if (file->shm_inode != 0)
			note(VFS_OPEN, VFS_SHM, clock_now(), file->shm_inode, VFS_NOTHING, 0);
	}
}

void vfs_shim_end(void)
{
	noting = false;
}

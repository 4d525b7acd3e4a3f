/* The disk in memory (disk.h) as SQLite's VFS, and an allocator for SQLite that can fail. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "entry.h"
#include "release.h"

enum { SECTOR = 512 };

struct file {
	sqlite3_file base;
	struct entry *entry;
	struct data own; /* of a temporary file */
	bool creates;
};

static int close_file(sqlite3_file *base)
{
	free(((struct file *)base)->own.bytes);
	return SQLITE_OK;
}

static struct data *data_of(sqlite3_file *base)
{
	struct file *file = (struct file *)base;

	return file->entry != NULL ? &file->entry->now : &file->own;
}

static int read_file(sqlite3_file *base, void *to, int size, sqlite3_int64 offset)
{
	struct data *data = data_of(base);
	int64_t there = data->size - offset;
	int result = disk_call(SQLITE_IOERR_READ);

	/* what SQLite makes of a short read of a temporary file is its own affair */
	if (result != SQLITE_OK &&
	    (disk_is_cut() || disk_fault() != FAULT_SHORT || ((struct file *)base)->entry == NULL))
		return result;
	there = there < 0 ? 0 : there < size ? there : size;
	if (result != SQLITE_OK)
		there /= 2;
	if (there > 0)
		memcpy(to, data->bytes + offset, (size_t)there);
	memset((uint8_t *)to + there, 0, (size_t)(size - there));
	return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *base, const void *from, int size, sqlite3_int64 offset)
{
	struct file *file = (struct file *)base;
	bool was_cut = disk_is_cut();
	int result = disk_call(SQLITE_IOERR_WRITE);

	/* half of it was written */
	if (result != SQLITE_OK && !disk_is_cut() && disk_fault() == FAULT_SHORT)
		size /= 2;
	else if (result != SQLITE_OK && (was_cut || !disk_is_cut()))
		return result;
	data_put(data_of(base), from, size, offset);
	if (file->entry != NULL)
		entry_note(file->entry, from, size, offset);
	return result;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *file = (struct file *)base;
	int result = disk_call(SQLITE_IOERR_TRUNCATE);

	if (result != SQLITE_OK)
		return result;
	data_cut(data_of(base), size);
	if (file->entry != NULL)
		entry_note(file->entry, NULL, size, 0);
	return SQLITE_OK;
}

static void sync_names(void)
{
	for (int i = 0; i < FILES; i++)
		entries[i].durable_name = entries[i].there;
}

static int sync_file(sqlite3_file *base, int flags)
{
	struct file *file = (struct file *)base;
	int result = disk_call(SQLITE_IOERR_FSYNC);

	if (result != SQLITE_OK || file->entry == NULL)
		return result;
	data_copy(&file->entry->durable, &file->entry->now);
	entry_settled(file->entry);
	file->entry->durable_name = true;
	/* as the unix VFS: the first sync of what it may have created is one of the folder, too */
	if (file->creates)
		sync_names();
	file->creates = false;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = data_of(base)->size;
	return disk_call(SQLITE_IOERR_FSTAT);
}

static int lock_file(sqlite3_file *base, int lock)
{
	return disk_call(SQLITE_IOERR_LOCK);
}

static int reserved(sqlite3_file *base, int *is)
{
	*is = 0;
	return SQLITE_OK;
}

/* Atomic writes. An error while one is committed takes it back, as F2FS does. */
static int control(sqlite3_file *base, int op, void *argument)
{
	struct entry *entry = ((struct file *)base)->entry;
	int result = SQLITE_OK;

	switch (op) {
	case SQLITE_FCNTL_BEGIN_ATOMIC_WRITE:
		result = disk_call(SQLITE_IOERR_BEGIN_ATOMIC);
		if (result == SQLITE_OK)
			entry_begin(entry);
		return result;
	case SQLITE_FCNTL_COMMIT_ATOMIC_WRITE: {
		bool was_cut = disk_is_cut();

		result = disk_call(SQLITE_IOERR_COMMIT_ATOMIC);
		if (result == SQLITE_OK)
			entry_commit(entry);
		else if (disk_is_cut())
			entry->committing = !was_cut;
		else
			entry_revoke(entry);
		return result;
	}
	case SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE:
		result = disk_call(SQLITE_IOERR_ROLLBACK_ATOMIC);
		if (!disk_is_cut())
			entry_revoke(entry);
		return result;
	default:
		return SQLITE_NOTFOUND;
	}
}

static int sector(sqlite3_file *base)
{
	return SECTOR;
}

static int characteristics(sqlite3_file *base)
{
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **address)
{
	struct entry *entry = ((struct file *)base)->entry;

	if (entry->shared[region] == NULL && extend)
		entry->shared[region] = calloc(1, (size_t)size);
	*address = entry->shared[region];
	return SQLITE_OK;
}

static int shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
	return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *base)
{
}

static int shm_unmap(sqlite3_file *base, int remove)
{
	entry_unshare(((struct file *)base)->entry);
	return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
	2,	   close_file,	read_file, write_file, truncate_file, sync_file,       file_size,
	lock_file, lock_file,	reserved,  control,    sector,	      characteristics, shm_map,
	shm_lock,  shm_barrier, shm_unmap, NULL,       NULL,
};

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out)
{
	struct file *file = (struct file *)base;
	int result = disk_call(SQLITE_CANTOPEN);

	memset(file, 0, sizeof(*file));
	if (result != SQLITE_OK)
		return result;
	if (name != NULL) {
		struct entry *entry = entry_find(base_name(name), flags & SQLITE_OPEN_CREATE);

		if (entry == NULL || (!entry->there && !(flags & SQLITE_OPEN_CREATE)))
			return SQLITE_CANTOPEN;
		if (!entry->there) {
			/* Its name is durable with its first sync, or earlier. */
			entry->there = true;
			entry->now.size = 0;
			entry_settled(entry);
			entry_note(entry, NULL, 0, 0);
		}
		file->entry = entry;
		file->creates = (flags & SQLITE_OPEN_CREATE) &&
				(flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL));
	}
	base->pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
	struct entry *entry = entry_find(base_name(name), false);
	int result = disk_call(SQLITE_IOERR_DELETE);

	if (result != SQLITE_OK)
		return result;
	if (entry == NULL || !entry->there)
		return SQLITE_IOERR_DELETE_NOENT;
	entry->there = false;
	entry_settled(entry);
	if (sync_directory)
		sync_names();
	return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *is)
{
	struct entry *entry = entry_find(base_name(name), false);
	int result = disk_call(SQLITE_IOERR_ACCESS);

	*is = entry != NULL && entry->there;
	/* as the unix VFS: an empty file is none */
	if (*is && flags == SQLITE_ACCESS_EXISTS && entry->now.size == 0)
		*is = false;
	return result;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
	snprintf(full, (size_t)size, "/%s", base_name(name));
	return SQLITE_OK;
}

/* Seeds of SQLite's own, and the time: the same in each run. */
static int same_random(sqlite3_vfs *vfs, int size, char *bytes)
{
	memset(bytes, 7, (size_t)size);
	return size;
}

static int same_time(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
	*now = disk_time += 1001;
	return SQLITE_OK;
}

static void *(*real_malloc)(int);
static void *(*real_realloc)(void *, int);

static void *failing_malloc(int size)
{
	return disk_no_memory() ? NULL : real_malloc(size);
}

static void *failing_realloc(void *old, int size)
{
	return disk_no_memory() ? NULL : real_realloc(old, size);
}

void disk_register(void)
{
	static sqlite3_vfs vfs;
	sqlite3_mem_methods memory;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
	real_malloc = memory.xMalloc;
	real_realloc = memory.xRealloc;
	memory.xMalloc = failing_malloc;
	memory.xRealloc = failing_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	/* so that each allocation is one of the allocator's */
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_initialize();
	vfs = *sqlite3_vfs_find(NULL);
	vfs.zName = "disk";
	vfs.szOsFile = sizeof(struct file);
	vfs.pNext = NULL;
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = access_file;
	vfs.xFullPathname = full_name;
	vfs.xRandomness = same_random;
	vfs.xCurrentTimeInt64 = same_time;
	sqlite3_vfs_register(&vfs, 1);
}

/* Logs the file calls of an engine that calls libc itself (LMDB, RocksDB), and passes the bytes
 * written to the engine's hooks: the linker's --wrap passes open, write, fsync and others through
 * here. */
#define _GNU_SOURCE /* PATH_MAX, pwrite, struct iovec */
#include "key_values/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "engine_files.h"
#include "fail.h"

int __real_open(const char *path, int flags, ...);
int __real_close(int descriptor);
ssize_t __real_write(int descriptor, const void *bytes, size_t size);
ssize_t __real_pwrite(int descriptor, const void *bytes, size_t size, off_t offset);
ssize_t __real_writev(int descriptor, const struct iovec *parts, int count);
int __real_fsync(int descriptor);
int __real_fdatasync(int descriptor);
int __real_msync(void *address, size_t size, int flags);
int __real_ftruncate(int descriptor, off_t size);
int __real_unlink(const char *path);

enum { DESCRIPTORS = 1 << 12 };

/* By descriptor. */
static struct watched {
	struct engine_file *log; /* NULL: not watched, or the folder */
	struct watched_file file;
	uint64_t folder; /* its inode; 0: a file */
} watched[DESCRIPTORS];

static char folder[PATH_MAX];
static const struct file_hooks *hooks;
static pthread_t caller;

void files_watch(const char *path, const struct file_hooks *given)
{
	if (!engine_files_recorded())
		return;
	snprintf(folder, sizeof(folder), "%s", path);
	caller = pthread_self();
	hooks = given;
}

static bool is_watching(void)
{
	return hooks != NULL && pthread_equal(pthread_self(), caller);
}

/* Returns the name of a file in the folder, or NULL. */
static const char *name_in_folder(const char *path)
{
	size_t length = strlen(folder);
	const char *name = path + length + 1;

	return is_watching() && strncmp(path, folder, length) == 0 && path[length] == '/' &&
			       name[0] != '\0' && strchr(name, '/') == NULL
		       ? name
		       : NULL;
}

static struct watched *find(int descriptor)
{
	struct watched *one;

	if (!is_watching() || descriptor < 0 || descriptor >= DESCRIPTORS)
		return NULL;
	one = &watched[descriptor];
	return one->log != NULL || one->folder != 0 ? one : NULL;
}

/* A stream's descriptor is closed by fclose, which is not replaced: what is known of an older file
 * with its number is dropped here. */
static void watch(int descriptor, const char *path, int flags, uint64_t begin)
{
	const char *name = name_in_folder(path);
	struct watched *one;
	bool compared = false;
	struct engine_file *log;
	unsigned role;
	struct stat status;

	if (is_watching() && descriptor < DESCRIPTORS)
		watched[descriptor] = (struct watched){0};
	if (!is_watching() ||
	    (name == NULL ? strcmp(path, folder) != 0 : (flags & O_ACCMODE) == O_RDONLY))
		return;
	if (descriptor >= DESCRIPTORS || fstat(descriptor, &status) != 0)
		fail("%s cannot be recorded", path);
	one = &watched[descriptor];
	if (name == NULL) {
		one->folder = status.st_ino;
		return;
	}
	if (strlen(name) >= LONGEST_NAME)
		fail("%s cannot be recorded: too long a name", path);
	role = hooks->role(name, &compared);
	if (role == NO_ROLE)
		return;
	log = engine_files_open(path, role, compared, begin);
	if (role == hooks->stream_role)
		return;
	strcpy(one->file.name, name);
	one->file.role = role;
	one->log = log;
}

int __wrap_open(const char *path, int flags, ...)
{
	uint64_t begin = engine_files_now();
	int descriptor, mode = 0;
	va_list more;

	va_start(more, flags);
	if (flags & O_CREAT)
		mode = va_arg(more, int);
	va_end(more);
	descriptor = __real_open(path, flags, mode);
	if (descriptor >= 0)
		watch(descriptor, path, flags, begin);
	return descriptor;
}

int __wrap_close(int descriptor)
{
	struct watched *one = find(descriptor);
	uint64_t begin = engine_files_now();
	int result = __real_close(descriptor), reason = errno;

	if (one == NULL)
		return result;
	if (one->log != NULL) {
		engine_files_close(one->log, begin, result != 0 ? reason : 0);
		if (hooks->closed != NULL)
			hooks->closed(&one->file);
	}
	*one = (struct watched){0};
	errno = reason;
	return result;
}

/* Leaves the first bytes in the parts; returns how many parts have any. */
static int cut(struct iovec *parts, int count, size_t size)
{
	for (int i = 0; i < count; i++) {
		if (parts[i].iov_len >= size) {
			parts[i].iov_len = size;
			return i + 1;
		}
		size -= parts[i].iov_len;
	}
	return count;
}

/* Notes a write, or as much of it as was written; returns its result. */
static ssize_t wrote(struct watched *one, struct iovec *parts, int count, int64_t offset,
		     uint64_t begin, ssize_t result)
{
	int reason = errno;
	int64_t call;

	if (result >= 0)
		count = cut(parts, count, (size_t)result);
	call = engine_files_write_parts(one->log, parts, count, offset, begin,
					result < 0 ? reason : 0);
	for (int i = 0; i < count && result >= 0 && hooks->wrote != NULL; i++) {
		hooks->wrote(&one->file, parts[i].iov_base, parts[i].iov_len, offset, call);
		offset += (int64_t)parts[i].iov_len;
	}
	errno = reason;
	return result;
}

static struct iovec one_part(const void *bytes, size_t size)
{
	return (struct iovec){.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
}

ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
	struct watched *one = find(descriptor);
	struct iovec part = one_part(bytes, size);
	uint64_t begin = engine_files_now();
	ssize_t result;

	if (one == NULL)
		return __real_pwrite(descriptor, bytes, size, offset);
	result = __real_pwrite(descriptor, bytes, engine_files_room(size), offset);
	return wrote(one, &part, 1, offset, begin, result);
}

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
	struct watched *one = find(descriptor);
	struct iovec part = one_part(bytes, size);
	uint64_t begin = engine_files_now();
	off_t offset;
	ssize_t result;

	if (one == NULL)
		return __real_write(descriptor, bytes, size);
	offset = lseek(descriptor, 0, SEEK_CUR);
	result = __real_write(descriptor, bytes, engine_files_room(size));
	return wrote(one, &part, 1, offset, begin, result);
}

/* Writes the first bytes of the parts alone, before a kill. */
static ssize_t write_first(int descriptor, const struct iovec *parts, size_t size)
{
	ssize_t written = 0;

	for (; size > 0; parts++) {
		size_t now = parts->iov_len < size ? parts->iov_len : size;

		if (__real_write(descriptor, parts->iov_base, now) != (ssize_t)now)
			return -1;
		written += (ssize_t)now;
		size -= now;
	}
	return written;
}

ssize_t __wrap_writev(int descriptor, const struct iovec *parts, int count)
{
	struct watched *one = find(descriptor);
	uint64_t begin = engine_files_now();
	struct iovec noted[IOV_MAX];
	size_t size = 0, room;
	off_t offset;
	ssize_t result;

	if (one == NULL || count < 0 || count > IOV_MAX)
		return __real_writev(descriptor, parts, count);
	memcpy(noted, parts, (size_t)count * sizeof(*parts));
	for (int i = 0; i < count; i++)
		size += parts[i].iov_len;
	offset = lseek(descriptor, 0, SEEK_CUR);
	room = engine_files_room(size);
	result = room == size ? __real_writev(descriptor, parts, count)
			      : write_first(descriptor, parts, room);
	return wrote(one, noted, count, offset, begin, result);
}

static int synced(const struct watched *one, uint64_t begin, int result)
{
	int reason = errno, given = result != 0 ? reason : 0;

	if (one != NULL && one->folder != 0)
		engine_files_sync_folder(one->folder, hooks->folder_role, begin, given);
	else if (one != NULL)
		engine_files_sync(one->log, 0, begin, given);
	errno = reason;
	return result;
}

int __wrap_fsync(int descriptor)
{
	uint64_t begin = engine_files_now();

	return synced(find(descriptor), begin, __real_fsync(descriptor));
}

int __wrap_fdatasync(int descriptor)
{
	uint64_t begin = engine_files_now();

	return synced(find(descriptor), begin, __real_fdatasync(descriptor));
}

int __wrap_msync(void *address, size_t size, int flags)
{
	uint64_t begin = engine_files_now();
	int result = __real_msync(address, size, flags), reason = errno;

	for (int i = 0; is_watching() && i < DESCRIPTORS; i++) {
		if (watched[i].log == NULL || watched[i].file.role != hooks->mapped_role)
			continue;
		engine_files_msync(watched[i].log, begin, result != 0 ? reason : 0);
		break;
	}
	errno = reason;
	return result;
}

int __wrap_ftruncate(int descriptor, off_t size)
{
	const struct watched *one = find(descriptor);
	uint64_t begin = engine_files_now();
	int result = __real_ftruncate(descriptor, size), reason = errno;

	if (one != NULL)
		engine_files_truncate(one->log, size, begin, result != 0 ? reason : 0);
	errno = reason;
	return result;
}

int __wrap_unlink(const char *path)
{
	const char *name = name_in_folder(path);
	uint64_t begin = engine_files_now();
	int result = __real_unlink(path), reason = errno;
	bool compared;
	unsigned role = name != NULL ? hooks->role(name, &compared) : NO_ROLE;

	if (role == NO_ROLE)
		return result;
	engine_files_delete(path, role, begin, result != 0 ? reason : 0);
	if (result == 0 && hooks->deleted != NULL)
		hooks->deleted(name);
	errno = reason;
	return result;
}

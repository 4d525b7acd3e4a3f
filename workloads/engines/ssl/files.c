/* Opens, reads and writes files through the VFS below ours, in parts of a size that it accepts. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "state.h"

sqlite3_vfs *ssl_wrapped;

/* SQLite's unix VFS accepts sizes of 17 bits (os_unix.c, unixRead): larger ones are split. */
enum { PART = 65536 };

/* SQLite treats a short read as zeros: correct at the file's end, otherwise an error. */
int file_short(sqlite3_file *real, int result, int64_t end)
{
	sqlite3_int64 size;

	if (result != SQLITE_IOERR_SHORT_READ)
		return result;
	if (real->pMethods->xFileSize(real, &size) != SQLITE_OK || size >= end)
		return SQLITE_IOERR_READ;
	return result;
}

int file_read(sqlite3_file *file, void *data, int64_t size, int64_t offset)
{
	uint8_t *to = data;
	int result = SQLITE_OK;

	for (int64_t at = 0; result == SQLITE_OK && at < size; at += PART)
		result = file->pMethods->xRead(
			file, to + at, (int)(size - at < PART ? size - at : PART), offset + at);
	return file_short(file, result, offset + size);
}

int file_write(sqlite3_file *file, const void *data, int64_t size, int64_t offset)
{
	const uint8_t *from = data;
	int result = SQLITE_OK;

	for (int64_t at = 0; result == SQLITE_OK && at < size; at += PART)
		result = file->pMethods->xWrite(
			file, from + at, (int)(size - at < PART ? size - at : PART), offset + at);
	return result;
}

/* SQLite's VFS treats an empty file as missing. */
bool file_absent(const char *path)
{
	struct stat found;

	return lstat(path, &found) != 0 && errno == ENOENT;
}

int file_beside(const struct ssl *ssl)
{
	return SQLITE_OPEN_READWRITE |
	       (file_absent(ssl->path) ? SQLITE_OPEN_SUPER_JOURNAL : SQLITE_OPEN_WAL);
}

int file_open(const char *path, int flags, sqlite3_file **file)
{
	int result, opened = flags;

	*file = sqlite3_malloc64((sqlite3_uint64)ssl_wrapped->szOsFile);
	if (*file == NULL)
		return SQLITE_NOMEM;
	memset(*file, 0, (size_t)ssl_wrapped->szOsFile);
	result = ssl_wrapped->xOpen(ssl_wrapped, path, *file, flags, &opened);
	/* the unix VFS also opens a file that it may not write */
	if (result == SQLITE_OK && (flags & ~opened & SQLITE_OPEN_READWRITE) != 0)
		result = SQLITE_READONLY;
	if (result != SQLITE_OK)
		file_close(file);
	return result;
}

void file_close(sqlite3_file **file)
{
	if (*file != NULL && (*file)->pMethods != NULL)
		(*file)->pMethods->xClose(*file);
	sqlite3_free(*file);
	*file = NULL;
}

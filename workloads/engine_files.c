/* Logs an engine's file calls, as a wrapper of its files reports them: each call to vfs.csv
 * (file_calls.h), and what was written for crash checks (written.h). */
#include "engine_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "file_calls.h"
#include "options.h"
#include "ticks.h"
#include "written.h"

/* Most transactions make two; one that writes tables or many pages makes more. So many calls are
 * made room for at once. */
enum { CALLS_PER_TRANSACTION = 8, MAX_BLOCK = 1 << 18 };
enum { NOT_LOGGED = -1 };

struct engine_file {
	struct engine_file *next; /* open files */
	uint64_t inode;
	unsigned role, database;
	struct written_file *written;
};

static struct engine_file *files;
static const char *folders[MAX_DATABASES];
static bool recorded, noting;
static int64_t calls;

bool engine_files_prepare(size_t transactions, struct error *error)
{
	size_t room = transactions * CALLS_PER_TRANSACTION;

	recorded = true;
	return file_calls_open(room < MAX_BLOCK ? room : MAX_BLOCK, error);
}

bool engine_files_recorded(void)
{
	return recorded;
}

uint64_t engine_files_now(void)
{
	return ticks_now();
}

void engine_files_folder(const char *path, size_t number)
{
	folders[number] = path;
}

/* Returns the number of a file's database, from 1; 0: it is in no folder. */
static unsigned database_of(const char *path)
{
	for (unsigned i = 0; i < MAX_DATABASES; i++) {
		size_t length = folders[i] != NULL ? strlen(folders[i]) : 0;

		if (length > 0 && strncmp(path, folders[i], length) == 0 && path[length] == '/')
			return i + 1;
	}
	return 0;
}

static int64_t note(enum file_op op, const struct engine_file *file, uint64_t begin, int64_t offset,
		    int64_t bytes, int result)
{
	struct file_call call = {.begin = begin,
				 .end = ticks_now(),
				 .inode = file->inode,
				 .offset = offset,
				 .bytes = bytes,
				 .page = FILE_NOTHING,
				 .op = op,
				 .role = file->role,
				 .database = file->database,
				 .result = result};

	if (!noting)
		return NOT_LOGGED;
	file_calls_add(&call);
	return calls++;
}

void engine_files_begin(void)
{
	noting = true;
	for (const struct engine_file *file = files; file != NULL; file = file->next)
		note(FILE_OPEN, file, ticks_now(), FILE_NOTHING, 0, 0);
}

void engine_files_end(void)
{
	noting = false;
}

struct engine_file *engine_files_open(const char *path, unsigned role, bool compared,
				      uint64_t begin)
{
	struct engine_file *file;
	struct stat status;

	if (!recorded)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (file == NULL || stat(path, &status) != 0)
		fail("%s cannot be recorded", path);
	file->inode = status.st_ino;
	file->role = role;
	file->database = database_of(path);
	if (compared)
		file->written = written_open(path);
	file->next = files;
	files = file;
	note(FILE_OPEN, file, begin, FILE_NOTHING, 0, 0);
	return file;
}

unsigned engine_files_database(const struct engine_file *file)
{
	return file != NULL ? file->database : 0;
}

int64_t engine_files_write(struct engine_file *file, const void *bytes, int64_t size,
			   int64_t offset, uint64_t begin, int result)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = (size_t)size};

	return engine_files_write_parts(file, &part, 1, offset, begin, result);
}

int64_t engine_files_write_parts(struct engine_file *file, const struct iovec *parts, int count,
				 int64_t offset, uint64_t begin, int result)
{
	int64_t size = 0;

	if (file == NULL)
		return NOT_LOGGED;
	for (int i = 0; i < count; i++) {
		if (result == 0)
			written_write(file->written, parts[i].iov_base, (int64_t)parts[i].iov_len,
				      offset + size);
		size += (int64_t)parts[i].iov_len;
	}
	return note(FILE_WRITE, file, begin, offset, size, result);
}

size_t engine_files_room(size_t size)
{
	return size;
}

void engine_files_sync(struct engine_file *file, int64_t folders, uint64_t begin, int result)
{
	if (file != NULL)
		note(FILE_SYNC, file, begin, folders, FILE_NOTHING, result);
}

void engine_files_sync_folder(uint64_t inode, unsigned role, uint64_t begin, int result)
{
	const struct engine_file folder = {.role = role, .inode = inode};

	note(FILE_SYNC, &folder, begin, 0, FILE_NOTHING, result);
}

int64_t engine_files_keep(unsigned role, int64_t size, uint64_t begin)
{
	const struct engine_file file = {.role = role};

	return note(FILE_KEEP, &file, begin, FILE_NOTHING, size, 0);
}

void engine_files_msync(struct engine_file *file, uint64_t begin, int result)
{
	if (file != NULL)
		note(FILE_MSYNC, file, begin, FILE_NOTHING, FILE_NOTHING, result);
}

void engine_files_truncate(struct engine_file *file, int64_t size, uint64_t begin, int result)
{
	if (file == NULL)
		return;
	if (result == 0)
		written_truncate(file->written, size);
	note(FILE_TRUNCATE, file, begin, size, FILE_NOTHING, result);
}

void engine_files_close(struct engine_file *file, uint64_t begin, int result)
{
	struct engine_file **link = &files;

	if (file == NULL)
		return;
	note(FILE_CLOSE, file, begin, FILE_NOTHING, FILE_NOTHING, result);
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	free(file);
}

void engine_files_delete(const char *path, unsigned role, uint64_t begin, int result)
{
	const struct engine_file file = {.role = role, .database = database_of(path)};

	if (!recorded)
		return;
	note(FILE_DELETE, &file, begin, FILE_NOTHING, 0, result);
	if (result == 0)
		written_delete(path);
}

/* Log of SQLite's file calls: a VFS around the default one that records each call and, for crash
 * checks, what it writes (written.h), and passes it on, as SQLite's own test_vfslog.c does. The
 * resulting calls to the filesystem are not recorded. */
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "hooks.h"
#include "log.h"
#include "options.h"
#include "sqlite3.h"
#include "stored.h"
#include "ticks.h"
#include "written.h"

/* A transaction in DELETE mode makes about 25 recorded calls. */
enum { CALLS_PER_TRANSACTION = 32, MAX_BLOCK = 1 << 18, MAX_VERSION = 3 };

/* Bytes of a WAL's header and of a frame's (SQLite's fileformat2.html, "WAL File Format"). */
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

/* An open file, placed after the wrapped VFS's own structure, which both share: calls that are not
 * recorded go straight to its methods. */
struct file {
	const sqlite3_io_methods *real;
	sqlite3_io_methods methods; /* the same, except recorded ones */
	struct file *next;	    /* open files */
	const char *name;	    /* SQLite keeps it until the file is closed; NULL: temporary */
	uint64_t inode, shm_inode;
	enum role kind;
	unsigned database;
	bool directory_due; /* its next sync syncs its directory too */
	struct written_file *written;
};

static sqlite3_vfs shim;
static sqlite3_vfs *wrapped;
static size_t wrapped_size; /* of its files */
static struct file *files;
static bool noting;
static const char *databases[MAX_DATABASES]; /* names in their folders */
static unsigned database_count;

static struct file *file_of(sqlite3_file *base)
{
	return (struct file *)((char *)base + wrapped_size);
}

static const char *name_of(const char *path)
{
	const char *last = strrchr(path, '/');

	return last != NULL ? last + 1 : path;
}

void log_database(const char *path, size_t number)
{
	databases[number] = name_of(path);
	if (number >= database_count)
		database_count = (unsigned)number + 1;
}

/* Returns the database that a file belongs to by its name: the database's, or that and a suffix. */
static unsigned database_of(const char *path)
{
	const char *name;

	if (path == NULL)
		return 0;
	name = name_of(path);
	for (unsigned i = 0; i < database_count; i++) {
		size_t length = strlen(databases[i]);

		if (strncmp(name, databases[i], length) == 0 &&
		    (name[length] == '\0' || name[length] == '-'))
			return i + 1;
	}
	return 0;
}

/* Records a call that ends now. */
static void note_call(struct file_call call)
{
	call.end = ticks_now();
	if (noting)
		file_calls_add(&call);
}

static void note(enum file_op op, enum role kind, unsigned database, uint64_t begin, uint64_t inode,
		 int64_t offset, int64_t bytes, int result)
{
	note_call((struct file_call){.begin = begin,
				     .inode = inode,
				     .offset = offset,
				     .bytes = bytes,
				     .page = FILE_NOTHING,
				     .op = op,
				     .role = kind,
				     .database = database,
				     .result = result});
}

/* Returns the page number in a WAL frame's header, if a write contains it: big-endian, at its
 * start. */
static int64_t logged_page(const struct file *file, const void *buffer, int bytes, int64_t offset)
{
	const uint8_t *header = buffer;
	bool has = log_engine.whole_frames ? bytes > FRAME_HEADER : bytes == FRAME_HEADER;

	if ((file->kind != ROLE_WAL && file->kind != ROLE_OWN_WAL) || !has || offset < WAL_HEADER)
		return FILE_NOTHING;
	return (int64_t)header[0] << 24 | header[1] << 16 | header[2] << 8 | header[3];
}

/* Returns a path's inode, 0 if it does not exist. */
static uint64_t inode_of(const char *path)
{
	struct stat status;

	return path != NULL && stat(path, &status) == 0 ? status.st_ino : 0;
}

/* Returns the descriptor that the next open(2) gets, if no other thread opens a file; SQLite uses
 * none below 3. */
static int next_descriptor(void)
{
	int next = fcntl(STDERR_FILENO, F_DUPFD, 3);

	if (next >= 0)
		close(next);
	return next;
}

/* Returns the inode of a temporary file, which SQLite unlinks after opening: the descriptor's, if
 * its file has no name; else 0. */
static uint64_t inode_of_unlinked(int descriptor)
{
	struct stat status;

	return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0
		       ? status.st_ino
		       : 0;
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
	uint64_t begin = ticks_now();
	int result = file->real->xClose(base);

	note(FILE_CLOSE, file->kind, file->database, begin, file->inode, FILE_NOTHING, FILE_NOTHING,
	     result);
	while (*link != file)
		link = &(*link)->next;
	*link = file->next;
	return result;
}

static int write_file(sqlite3_file *base, const void *buffer, int bytes, sqlite3_int64 offset)
{
	struct file *file = file_of(base);
	uint64_t begin = ticks_now();
	int result = file->real->xWrite(base, buffer, bytes, offset);

	note_call((struct file_call){.begin = begin,
				     .inode = file->inode,
				     .offset = offset,
				     .bytes = bytes,
				     .page = logged_page(file, buffer, bytes, offset),
				     .op = FILE_WRITE,
				     .role = file->kind,
				     .database = file->database,
				     .result = result});
	written_write(file->written, buffer, bytes, offset);
	return result;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *file = file_of(base);
	uint64_t begin = ticks_now();
	int result = file->real->xTruncate(base, size);

	note(FILE_TRUNCATE, file->kind, file->database, begin, file->inode, size, FILE_NOTHING,
	     result);
	written_truncate(file->written, size);
	return result;
}

static int sync_file(sqlite3_file *base, int flags)
{
	struct file *file = file_of(base);
	uint64_t begin = ticks_now();
	int result = file->real->xSync(base, flags);

	note(FILE_SYNC, file->kind, file->database, begin, file->inode, FILE_NOTHING, flags,
	     result);
	file->directory_due = false;
	return result;
}

static int shm_map(sqlite3_file *base, int region, int bytes, int extend, void volatile **address)
{
	struct file *file = file_of(base);
	uint64_t begin = ticks_now();
	int result = file->real->xShmMap(base, region, bytes, extend, address);

	if (file->shm_inode == 0)
		file->shm_inode = shm_inode_of(file);
	note(FILE_SHM_MAP, ROLE_SHM, file->database, begin, file->shm_inode,
	     (int64_t)region * bytes, bytes, result);
	return result;
}

static int shm_unmap(sqlite3_file *base, int remove)
{
	struct file *file = file_of(base);

	file->shm_inode = 0;
	return file->real->xShmUnmap(base, remove);
}

/* Returns the role of one of the engine's own files, else ROLE_OTHER. */
static enum role kind_of_own(const char *name)
{
	const char *own = log_engine.own_suffix, *own_wal = log_engine.own_wal_suffix;

	if (own != NULL && ends_with(name, own))
		return ROLE_OWN;
	return own_wal != NULL && ends_with(name, own_wal) ? ROLE_OWN_WAL : ROLE_OTHER;
}

static enum role kind_of_open(const char *name, int flags)
{
	enum role own = name != NULL ? kind_of_own(name) : ROLE_TEMPORARY;

	if (own != ROLE_OTHER)
		return own;
	if ((flags & SQLITE_OPEN_MAIN_DB) != 0)
		return ROLE_DATABASE;
	if ((flags & SQLITE_OPEN_MAIN_JOURNAL) != 0)
		return ROLE_JOURNAL;
	return (flags & SQLITE_OPEN_WAL) != 0 ? ROLE_WAL : ROLE_OTHER;
}

static enum role kind_of_name(const char *name)
{
	if (ends_with(name, "-journal"))
		return ROLE_JOURNAL;
	return ends_with(name, "-wal") ? ROLE_WAL : kind_of_own(name);
}

/* `bytes` of an open: the unix VFS syncs the directory of a journal or WAL that it created with the
 * first sync of that file. */
static void note_open(const struct file *file, uint64_t begin, int result)
{
	note(FILE_OPEN, file->kind, file->database, begin, file->inode, FILE_NOTHING,
	     file->directory_due, result);
}

static void copy_methods(struct file *file)
{
	sqlite3_io_methods *methods = &file->methods;

	*methods = *file->real;
	methods->xClose = close_file;
	methods->xWrite = write_file;
	methods->xTruncate = truncate_file;
	methods->xSync = sync_file;
	/* A method that a file lacks must stay missing: without xShmMap SQLite rejects WAL. */
	if (methods->iVersion >= 2) {
		methods->xShmMap = shm_map;
		methods->xShmUnmap = shm_unmap;
	}
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags,
		     int *out_flags)
{
	struct file *file = file_of(base);
	int descriptor = name == NULL ? next_descriptor() : -1;
	uint64_t begin = ticks_now();
	int result = wrapped->xOpen(wrapped, name, base, flags, out_flags);

	/* SQLite closes a file that has methods, even when opening it failed. */
	if (base->pMethods == NULL) {
		note(FILE_OPEN, kind_of_open(name, flags), database_of(name), begin, 0,
		     FILE_NOTHING, FILE_NOTHING, result);
		return result;
	}
	memset(file, 0, sizeof(*file));
	file->real = base->pMethods;
	copy_methods(file);
	base->pMethods = &file->methods;
	file->name = name;
	file->inode = name != NULL ? inode_of(name) : inode_of_unlinked(descriptor);
	file->kind = kind_of_open(name, flags);
	file->database = database_of(name);
	file->directory_due = (flags & SQLITE_OPEN_CREATE) != 0 &&
			      (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0;
	/* the engine's log may also be written by a mapping */
	if (name != NULL && file->kind != ROLE_OTHER && file->kind != ROLE_OWN)
		file->written = written_open(name);
	file->next = files;
	files = file;
	note_open(file, begin, result);
	return result;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
	uint64_t begin = ticks_now();
	int result = wrapped->xDelete(wrapped, name, sync_directory);

	note(FILE_DELETE, kind_of_name(name), database_of(name), begin, 0, FILE_NOTHING,
	     sync_directory != 0, result);
	written_delete(name);
	stored_delete(name);
	return result;
}

bool sqlite_log_prepare(size_t transactions, struct error *error)
{
	size_t calls = transactions * CALLS_PER_TRANSACTION;

	if (!file_calls_open(calls < MAX_BLOCK ? calls : MAX_BLOCK, error))
		return false;
	wrapped = sqlite3_vfs_find(NULL);
	if (wrapped == NULL || wrapped->iVersion != MAX_VERSION)
		return error_set(error, "the VFS of %s is not of version %d", engine.title(),
				 MAX_VERSION);
	wrapped_size = ((size_t)wrapped->szOsFile + sizeof(max_align_t) - 1) & -sizeof(max_align_t);
	/* Methods that are not recorded stay the wrapped VFS's. */
	shim = *wrapped;
	shim.zName = "commitpath-log";
	shim.szOsFile = (int)(wrapped_size + sizeof(struct file));
	shim.xOpen = open_file;
	shim.xDelete = delete_file;
	return sqlite3_vfs_register(&shim, 1) == SQLITE_OK ||
	       error_set(error, "%s does not take another VFS", engine.title());
}

void log_note_kept(size_t database, uint64_t begin, int64_t offset, int64_t bytes, int64_t page)
{
	note_call((struct file_call){.begin = begin,
				     .offset = offset,
				     .bytes = bytes,
				     .page = page,
				     .op = FILE_KEEP,
				     .role = ROLE_WAL,
				     .database = (unsigned)database + 1});
}

void log_note_own(size_t database, enum file_op op, uint64_t begin, int64_t offset, int64_t bytes,
		  int result)
{
	const struct file *file = files;

	while (file != NULL && (file->kind != ROLE_OWN || file->database != database + 1))
		file = file->next;
	note(op, ROLE_OWN, (unsigned)database + 1, begin, file != NULL ? file->inode : 0, offset,
	     bytes, result);
}

void sqlite_log_begin(void)
{
	noting = true;
	for (const struct file *file = files; file != NULL; file = file->next) {
		note_open(file, ticks_now(), SQLITE_OK);
		if (file->shm_inode != 0)
			note(FILE_OPEN, ROLE_SHM, file->database, ticks_now(), file->shm_inode,
			     FILE_NOTHING, 0, SQLITE_OK);
	}
}

void sqlite_log_end(void)
{
	noting = false;
}

/* Finds the role of a RocksDB file (log, table, manifest, …) by its name (file/filename.cc), adds
 * up file sizes by role, and passes logged writes of logs and tables on, so that rows are
 * attributed to writes. */
#include "files.h"

#include <stdlib.h>
#include <string.h>

#include "engine_files.h"
#include "fail.h"
#include "folder.h"
#include "key_values/key_values.h"
#include "leveldb/data.h"
#include "moved.h"

const char *const roles[] = {"log",  "table", "manifest",  "current",
			     "info", "other", "directory", NULL};

static bool begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static size_t role_of(const char *name)
{
	if (ends_with(name, ".log"))
		return LOG;
	if (ends_with(name, ".sst"))
		return TABLE;
	if (begins_with(name, "MANIFEST-"))
		return MANIFEST;
	/* new ones have another name until they are renamed */
	if (begins_with(name, "OPTIONS-") || strcmp(name, "CURRENT") == 0 ||
	    strcmp(name, "IDENTITY") == 0 || ends_with(name, ".dbtmp"))
		return CURRENT;
	return begins_with(name, "LOG") ? INFO : OTHER;
}

size_t files_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	return folder_sizes(path, roles, ROLES, role_of, sizes);
}

/* The others are renamed, or have times in them. */
static unsigned logged_role(const char *name, bool *compared)
{
	size_t role = role_of(name);

	*compared = role == LOG || role == TABLE || role == MANIFEST;
	return (unsigned)role;
}

static void wrote(struct watched_file *file, const void *bytes, size_t size, int64_t offset,
		  int64_t call)
{
	if (call < 0)
		return;
	if (file->role == LOG) {
		if (file->state == NULL)
			file->state = calloc(1, sizeof(struct data_batch));
		if (file->state == NULL)
			fail("no memory for %s", file->name);
		data_log(file->state, bytes, size, offset, call);
	} else if (file->role == TABLE) {
		if (file->state == NULL)
			file->state = table_open(file->name);
		table_write(file->state, bytes, size, call);
	}
}

static void closed(struct watched_file *file)
{
	if (file->role == LOG)
		free(file->state);
	else if (file->role == TABLE && file->state != NULL)
		table_close(file->state);
}

const struct file_hooks file_hooks = {
	.role = logged_role,
	.folder_role = FOLDER,
	.mapped_role = ROLES,
	.stream_role = INFO,
	.wrote = wrote,
	.closed = closed,
	.deleted = table_delete,
};

void files_kept(uint64_t last, size_t count, size_t bytes, uint64_t begin)
{
	int64_t call = engine_files_keep(LOG, (int64_t)bytes, begin);

	if (call >= 0)
		moved_source(ONE_DATABASE, last - count + 1, call);
}

void files_end(void)
{
	tables_settle();
	engine_files_end();
}

/* Finds the role of a LevelDB file (log, table, manifest, …) by its name, and adds up the sizes of
 * a database's files by role. */
#include <string.h>

#include "files.h"
#include "folder.h"

const char *const leveldb_roles[] = {"log", "table", "manifest", "current", "info", "other", NULL};

enum leveldb_role role_of(const char *path)
{
	const char *last = strrchr(path, '/'), *name = last != NULL ? last + 1 : path;

	if (ends_with(name, ".log"))
		return LOG;
	if (ends_with(name, ".ldb") || ends_with(name, ".sst"))
		return TABLE;
	if (strncmp(name, "MANIFEST-", strlen("MANIFEST-")) == 0)
		return MANIFEST;
	/* a new CURRENT has another name until it is renamed */
	if (strcmp(name, "CURRENT") == 0 || ends_with(name, ".dbtmp"))
		return CURRENT;
	return strcmp(name, "LOG") == 0 || strcmp(name, "LOG.old") == 0 ? INFO : OTHER;
}

static size_t role_index(const char *name)
{
	return role_of(name);
}

size_t leveldb_file_sizes(const char *path, struct file_size *sizes)
{
	return folder_sizes(path, leveldb_roles, ROLES, role_index, sizes);
}

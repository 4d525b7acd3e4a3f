/* LevelDB's files: a database is a folder. */
#include <string.h>

#include "database.h"

enum role { LOG, TABLE, MANIFEST, OTHER, ROLES };
static const char *const roles[] = {"log", "table", "manifest", "other"};

/* By the names that LevelDB's filename.cc gives. */
static size_t role_of(const char *name)
{
	if (ends_with(name, ".log"))
		return LOG;
	if (ends_with(name, ".ldb") || ends_with(name, ".sst"))
		return TABLE;
	return strncmp(name, "MANIFEST-", strlen("MANIFEST-")) == 0 ? MANIFEST : OTHER;
}

size_t files_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	return key_values_file_sizes(path, roles, ROLES, role_of, sizes);
}

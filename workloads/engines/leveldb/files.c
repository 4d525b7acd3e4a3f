/* LevelDB's files: a database is a folder. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "database.h"

enum role { LOG, TABLE, MANIFEST, OTHER, ROLES };
static const char *const roles[] = {"log", "table", "manifest", "other"};

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

/* By the names that LevelDB's filename.cc gives. */
static enum role role_of(const char *name)
{
	if (ends_with(name, ".log"))
		return LOG;
	if (ends_with(name, ".ldb") || ends_with(name, ".sst"))
		return TABLE;
	return strncmp(name, "MANIFEST-", strlen("MANIFEST-")) == 0 ? MANIFEST : OTHER;
}

size_t files_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	for (size_t i = 0; i < ROLES; i++)
		sizes[i] = (struct file_size){roles[i], 0};
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char name[PATH_MAX];
		struct stat status;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
			sizes[role_of(entry->d_name)].bytes += status.st_size;
	}
	if (folder != NULL)
		closedir(folder);
	return ROLES;
}

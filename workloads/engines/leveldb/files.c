/* LevelDB's files: a database is a folder. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "database.h"
#include "roles.h"

const char *const roles[] = {"log", "table", "manifest", "current", "info", "other", NULL};

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

enum role role_of(const char *path)
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
			sizes[role_of(name)].bytes += status.st_size;
	}
	if (folder != NULL)
		closedir(folder);
	return ROLES;
}

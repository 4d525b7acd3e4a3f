/* Adds up the sizes of a database's files by role, such as log and table, for engines whose
 * database is a folder of files. */
#include "folder.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

size_t folder_sizes(const char *path, const char *const *roles, size_t count,
		    size_t (*role_of)(const char *name), struct file_size *sizes)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	for (size_t i = 0; i < count; i++)
		sizes[i] = (struct file_size){roles[i], 0};
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char name[PATH_MAX];
		size_t role = role_of(entry->d_name);
		struct stat status;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (role < count && stat(name, &status) == 0 && S_ISREG(status.st_mode))
			sizes[role].bytes += status.st_size;
	}
	if (folder != NULL)
		closedir(folder);
	return count;
}

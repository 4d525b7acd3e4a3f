/* Copies the files of folders to memory, and restores them before the next crash trial by SIGKILL
 * (kill.c). */
#include "kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

enum { MOST_FOLDERS = 2 };

struct file {
	char path[PATH_MAX];
	char *content;
	size_t size;
};

static char folders[MOST_FOLDERS][PATH_MAX];
static size_t folder_count;
static struct file *files;
static size_t count;

/* Calls `use` with the path of each file of a folder and of the folders in it: a database may be
 * one. */
static void each(const char *folder, void (*use)(const char *path))
{
	DIR *open = opendir(folder);
	char path[PATH_MAX];
	struct stat status;

	if (open == NULL)
		fail("%s: %s", folder, strerror(errno));
	for (struct dirent *entry; (entry = readdir(open)) != NULL;) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);

		if (length < 0 || (size_t)length >= sizeof(path))
			fail("%s: a name in it is too long", folder);
		if (lstat(path, &status) != 0)
			fail("%s: %s", path, strerror(errno));
		if (!S_ISDIR(status.st_mode))
			use(path);
		else if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			each(path, use);
	}
	closedir(open);
}

static void take(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct file *file;
	struct stat status;

	files = realloc(files, (count + 1) * sizeof(*files));
	if (files == NULL)
		fail("no memory to keep %s", path);
	file = &files[count++];
	if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
		fail("%s is not a file that can be kept", path);
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->size = (size_t)status.st_size;
	file->content = malloc(file->size + 1);
	if (file->content == NULL)
		fail("no memory to keep %s, %zu bytes", path, file->size);
	for (size_t done = 0; done < file->size;) {
		ssize_t got = read(fd, file->content + done, file->size - done);

		if (got <= 0)
			fail("reading %s: %s", path, strerror(errno));
		done += (size_t)got;
	}
	close(fd);
}

static void remove_file(const char *path)
{
	if (unlink(path) != 0)
		fail("removing %s: %s", path, strerror(errno));
}

static void put_back(const struct file *file)
{
	int fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("%s: %s", file->path, strerror(errno));
	for (size_t done = 0; done < file->size;) {
		ssize_t put = write(fd, file->content + done, file->size - done);

		if (put <= 0)
			fail("writing %s: %s", file->path, strerror(errno));
		done += (size_t)put;
	}
	if (close(fd) != 0)
		fail("writing %s: %s", file->path, strerror(errno));
}

void kept_take(const char *path)
{
	if (folder_count == MOST_FOLDERS)
		fail("%s: more than %d folders are to be kept", path, MOST_FOLDERS);
	snprintf(folders[folder_count], sizeof(folders[0]), "%s", path);
	each(folders[folder_count++], take);
}

void kept_restore(void)
{
	for (size_t i = 0; i < folder_count; i++)
		each(folders[i], remove_file);
	for (size_t i = 0; i < count; i++)
		put_back(&files[i]);
}

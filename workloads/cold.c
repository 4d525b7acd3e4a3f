/* For CACHE=cold: drops the page cache before the measurement, and checks that no page of a
 * database is left in it. */
#define _DEFAULT_SOURCE /* mincore */

#include "cold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "databases.h"
#include "fail.h"

enum { PAGES_AT_ONCE = 4096 };

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail("opening %s: %s", path, strerror(errno));
	return fd;
}

/* How many of a file's pages the page cache has. The mapping itself reads nothing. */
static size_t cached_pages(const char *path, size_t *pages)
{
	static unsigned char present[PAGES_AT_ONCE];
	size_t page = (size_t)sysconf(_SC_PAGESIZE), cached = 0, size;
	int fd = open_file(path, O_RDONLY);
	struct stat status;
	char *map;

	if (fstat(fd, &status) != 0)
		fail("the size of %s: %s", path, strerror(errno));
	size = (size_t)status.st_size;
	*pages = (size + page - 1) / page;
	if (size == 0) {
		close(fd);
		return 0;
	}
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		fail("mapping %s: %s", path, strerror(errno));
	for (size_t at = 0; at < *pages; at += PAGES_AT_ONCE) {
		size_t count = *pages - at < PAGES_AT_ONCE ? *pages - at : PAGES_AT_ONCE;

		if (mincore(map + at * page, count * page, present) != 0)
			fail("mincore of %s: %s", path, strerror(errno));
		for (size_t i = 0; i < count; i++)
			cached += present[i] & 1;
	}
	munmap(map, size);
	close(fd);
	return cached;
}

static void check_file(const char *path)
{
	size_t pages, cached = cached_pages(path, &pages);

	if (cached > 0)
		fail("%zu of %zu pages of %s are still in the page cache after it was dropped",
		     cached, pages, path);
}

/* A database is a file, or a folder of files. */
static void check_database(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (folder == NULL && errno != ENOTDIR)
		fail("opening %s: %s", path, strerror(errno));
	if (folder == NULL) {
		check_file(path);
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		char name[PATH_MAX];

		if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >= PATH_MAX)
			fail("the path of %s in %s is too long", entry->d_name, path);
		if (entry->d_name[0] != '.')
			check_file(name);
	}
	closedir(folder);
}

void cold_begin(const char *drop, const struct options *options)
{
	int fd = open_file(drop, O_WRONLY);

	/* Twice: each time pages are dropped first, and then what held others in memory, such as
	 * inodes and the journal's notes of blocks that were written home. */
	for (int i = 0; i < 2; i++)
		if (write(fd, "3\n", 2) != 2)
			fail("dropping the page cache by %s: %s", drop, strerror(errno));
	close(fd);
	for (size_t i = 0; i < (size_t)options->databases; i++)
		check_database(database_path(options, i));
}

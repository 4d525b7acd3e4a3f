/* Writes a run's result files under a temporary name until they are complete, so that each is
 * complete or absent; removes those of an earlier run, and appends lines to a console or file. */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"

static const char *const result_files[] = {
	"config.json", "transactions.csv", "phases.csv",  "device_stat.csv", "vfs.csv",
	"moved.csv",   "persistent.csv",   "commits.csv", "rendered",	     RECORD_FILE};

static char final_path[PATH_MAX];
static char partial_path[PATH_MAX + 8];

void output_path(char *path, const char *directory, const char *name)
{
	int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);

	if (length < 0 || length >= PATH_MAX)
		fail("output folder: the path %s is too long", directory);
}

static void set_paths(const char *directory, const char *name)
{
	output_path(final_path, directory, name);
	snprintf(partial_path, sizeof(partial_path), "%s.partial", final_path);
}

void output_prepare(const char *directory)
{
	if (mkdir(directory, 0777) != 0 && errno != EEXIST)
		fail("output folder %s: %s", directory, strerror(errno));
	for (size_t i = 0; i < sizeof(result_files) / sizeof(result_files[0]); i++) {
		set_paths(directory, result_files[i]);
		if (unlink(final_path) != 0 && errno != ENOENT)
			fail("removing the old %s: %s", final_path, strerror(errno));
	}
	partial_path[0] = '\0';
}

FILE *output_open(const char *directory, const char *name)
{
	FILE *file;

	set_paths(directory, name);
	file = fopen(partial_path, "w");
	if (file == NULL) {
		int error = errno;

		partial_path[0] = '\0';
		fail("writing %s: %s", final_path, strerror(error));
	}
	return file;
}

void output_bytes(FILE *file, const char *path, const void *bytes, size_t size)
{
	if (size > 0 && fwrite(bytes, 1, size, file) != size)
		fail("%s: %s", path, strerror(errno));
}

void output_number(FILE *file, int64_t number)
{
	char digits[20]; /* of INT64_MIN: 19 and a sign */
	char *end = digits + sizeof(digits), *begin = end;
	uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;

	do
		*--begin = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	if (number < 0)
		*--begin = '-';
	fwrite(begin, 1, (size_t)(end - begin), file);
}

void output_commit(FILE *file)
{
	int write_failed = ferror(file);

	if (fclose(file) != 0 || write_failed)
		fail("writing %s: %s", final_path, strerror(errno));
	if (rename(partial_path, final_path) != 0)
		fail("renaming %s: %s", partial_path, strerror(errno));
	partial_path[0] = '\0';
}

void output_abandon(void)
{
	if (partial_path[0] != '\0')
		unlink(partial_path);
	partial_path[0] = '\0';
}

void output_say(const char *path, const char *line)
{
	FILE *file;
	int failed;

	if (path == NULL)
		return;
	file = fopen(path, "a");
	if (file == NULL)
		fail("writing %s: %s", path, strerror(errno));
	failed = fprintf(file, "%s\n", line) < 0;
	if (fclose(file) != 0 || failed)
		fail("writing %s: %s", path, strerror(errno));
}

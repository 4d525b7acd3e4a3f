/* Runs the crash trials of a plan file, one a line, which begins with the trial's number, and
 * writes a line of results for each; copies the files of sampled trials, and counts the
 * transactions that a run had begun and acknowledged. */
#define _GNU_SOURCE /* PATH_MAX */
#include "plan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "board.h"
#include "clock.h"
#include "fail.h"
#include "output.h"
#include "record.h"

/* The header of acknowledged.bin (docs/reference/formats.md). */
enum { RECORD_HEADER = 16 };

void plan_take(struct plan *plan, char **argv)
{
	*plan = (struct plan){argv[0], argv[1], argv[2], argv[3]};
}

/* For a line's first word. */
static int number_length(const char *line)
{
	return (int)strcspn(line, " \n");
}

static void announce_trial(const char *line, const char *path)
{
	char text[48];

	snprintf(text, sizeof(text), "trials: %.*s", number_length(line), line);
	output_say(path, text);
}

void plan_each(const struct plan *plan, const char *announce, const char *columns,
	       void (*run_trial)(char *line, FILE *output))
{
	FILE *lines = fopen(plan->path, "r"), *output = fopen(plan->output, "w");
	char *line = NULL;
	size_t size = 0;

	if (lines == NULL || output == NULL)
		fail("%s, %s: %s", plan->path, plan->output, strerror(errno));
	clock_wait_whole_second();
	board_complaints(NULL);
	fprintf(output, "%s\n", columns);
	while (getline(&line, &size, lines) > 0) {
		announce_trial(line, announce);
		run_trial(line, output);
		/* the trial may end the board */
		if (fflush(output) != 0)
			fail("%s: %s", plan->output, strerror(errno));
	}
	free(line);
	fclose(lines);
	if (fclose(output) != 0)
		fail("%s: %s", plan->output, strerror(errno));
}

uint64_t plan_hash(const char *line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *line != '\0' && *line != '\n'; line++)
		hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
	return hash;
}

bool plan_samples(const struct plan *plan, const char *line)
{
	size_t length = (size_t)number_length(line);

	for (const char *one = plan->sampled; *one != '\0';) {
		size_t digits = strcspn(one, ",");

		if (digits == length && strncmp(one, line, length) == 0)
			return true;
		one += digits + (one[digits] == ',');
	}
	return false;
}

static int open_new(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int fd;

	output_path(path, folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

/* Returns 0 or the errno of a failed read. */
static int copy(const char *path, int to)
{
	static char buffer[1 << 16];
	int from = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t got = 0;

	if (from < 0)
		return errno;
	while ((got = read(from, buffer, sizeof(buffer))) > 0)
		for (ssize_t done = 0, put; done < got; done += put)
			if ((put = write(to, buffer + done, (size_t)(got - done))) <= 0)
				fail("keeping %s: %s", path, strerror(errno));
	if (got < 0)
		error = errno;
	close(from);
	return error;
}

/* Copies the files of a folder whose names begin with a database's name; returns 0 or the errno of
 * a failed read. */
static int copy_files(const char *folder, const char *database, const char *to)
{
	char path[PATH_MAX];
	const char *name = strrchr(database, '/');
	struct dirent *entry;
	DIR *open = opendir(folder);
	int error = 0;

	name = name == NULL ? database : name + 1;
	if (open == NULL)
		return errno;
	while (error == 0 && (errno = 0, entry = readdir(open)) != NULL) {
		int fd;

		if (strncmp(entry->d_name, name, strlen(name)) != 0)
			continue;
		output_path(path, folder, entry->d_name);
		fd = open_new(to, entry->d_name);
		error = copy(path, fd);
		if (close(fd) != 0)
			fail("keeping %s: %s", path, strerror(errno));
	}
	if (error == 0)
		error = errno;
	closedir(open);
	return error;
}

void plan_keep(const struct plan *plan, const char *line, const struct options *driver)
{
	char folder[PATH_MAX], own[PATH_MAX], number[24];
	int error;

	snprintf(number, sizeof(number), "%.*s", number_length(line), line);
	output_path(folder, plan->files, number);
	if ((mkdir(plan->files, 0777) != 0 && errno != EEXIST) || mkdir(folder, 0777) != 0)
		fail("%s: %s", folder, strerror(errno));
	snprintf(own, sizeof(own), "%s", driver->database);
	error = copy_files(dirname(own), driver->database, folder);
	if (error == 0 && driver->persistent != NULL)
		error = copy_files(driver->persistent, driver->database, folder);
	if (error != 0) {
		int fd = open_new(folder, "unread");

		if (dprintf(fd, "%s\n", strerror(error)) < 0 || close(fd) != 0)
			fail("%s: %s", folder, strerror(errno));
	}
}

void plan_count(const char *record, int64_t *begun, int64_t *acknowledged)
{
	struct transaction_record one;
	FILE *file = fopen(record, "rb");

	if (file == NULL || fseek(file, RECORD_HEADER, SEEK_SET) != 0)
		fail("%s: %s", record, strerror(errno));
	*begun = *acknowledged = 0;
	while (fread(&one, sizeof(one), 1, file) == 1) {
		*begun += one.begin_ns != 0;
		*acknowledged += one.end_ns != 0;
	}
	fclose(file);
}

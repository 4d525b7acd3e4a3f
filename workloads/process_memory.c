/* Reads the memory of the driver's process (peak, resident, …) from /proc/self/status between two
 * phases, and writes it to config.json after them. */
#include "process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"

enum { STATUS_SIZE = 4096, KIB = 1024 };

/* Since Linux 4.5; before, the resident memory is one number. `shared` is of a tmpfs, where the
 * driver's own record of the transactions is. */
static const struct {
	const char *name, *member;
} fields[] = {
	{"VmHWM", "peak"},     {"VmRSS", "resident"},  {"RssAnon", "anonymous"},
	{"RssFile", "mapped"}, {"RssShmem", "shared"},
};

static const char path[] = "/proc/self/status";
static int status_fd = -1;
static char status[STATUS_SIZE];

void process_memory_prepare(void)
{
	memset(status, 0xff, sizeof(status)); /* faulted in before anything is measured */
	status_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (status_fd < 0)
		fail("opening %s: %s", path, strerror(errno));
}

void process_memory_read(void)
{
	ssize_t length = pread(status_fd, status, sizeof(status) - 1, 0);

	if (length < 0)
		fail("reading %s: %s", path, strerror(errno));
	status[length] = '\0';
}

/* Returns whether the text has a line `NAME: KIB kB`. */
static int find(const char *name, int64_t *kib)
{
	for (const char *line = status; line != NULL; line = strchr(line, '\n')) {
		size_t length = strlen(name);

		line += *line == '\n';
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			return sscanf(line + length + 1, "%" SCNd64 " kB", kib) == 1;
	}
	return 0;
}

void process_memory_write(struct json *json)
{
	json_begin(json, "memory", '{');
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		int64_t kib;

		if (find(fields[i].name, &kib))
			json_number(json, fields[i].member, kib * KIB);
	}
	json_end(json, '}');
}

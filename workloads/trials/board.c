/* System calls of crash trials: writes to the device's control files, reads its counters, mounts,
 * reads warnings of the kernel log, runs a command such as fsck. */
#define _DEFAULT_SOURCE /* vfork, MS_* */
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fail.h"

int board_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, text, strlen(text)) < 0)
		error = errno;
	close(fd);
	return error;
}

void board_counts(const char *path, struct board_counts *counts)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (size < 0)
		fail("%s: %s", path, strerror(errno));
	close(fd);
	text[size] = '\0';
	*counts = (struct board_counts){0, 0, 0};
	for (char *rest, *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		uint64_t number;

		if (sscanf(line, "reads=%" SCNu64, &number) == 1)
			counts->reads = number;
		else if (sscanf(line, "writes=%" SCNu64, &number) == 1)
			counts->writes = number;
		else if (sscanf(line, "flushes_%*[a-z]=%" SCNu64, &number) == 1)
			counts->flushes += number;
	}
}

/* Options that are flags of the system call, not text for the filesystem. */
static const struct {
	const char *name;
	unsigned long flag;
} flags[] = {
	{"defaults", 0},
	{"rw", 0},
	{"async", 0},
	{"ro", MS_RDONLY},
	{"sync", MS_SYNCHRONOUS},
	{"dirsync", MS_DIRSYNC},
	{"noatime", MS_NOATIME},
	{"nodiratime", MS_NODIRATIME},
	{"relatime", MS_RELATIME},
	{"strictatime", MS_STRICTATIME},
	{"lazytime", MS_LAZYTIME},
};

int board_mount(const char *device, const char *folder, const char *type, const char *options)
{
	char words[1024], rest[1024] = "";
	unsigned long set = 0;
	size_t i;

	snprintf(words, sizeof(words), "%s", options);
	for (char *more, *word = strtok_r(words, ",", &more); word;
	     word = strtok_r(NULL, ",", &more)) {
		for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
			if (strcmp(word, flags[i].name) == 0)
				break;
		if (i < sizeof(flags) / sizeof(flags[0]))
			set |= flags[i].flag;
		else
			snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), "%s%s",
				 rest[0] ? "," : "", word);
	}
	return mount(device, folder, type, set, rest) == 0 ? 0 : errno;
}

/* On a host, where tests run this, the kernel's log has other devices' messages and may be
 * unreadable.
 */
#ifdef ON_A_HOST
#define KERNEL_LOG "/dev/null"
#else
#define KERNEL_LOG "/dev/kmsg"
#endif

int board_complaints(char *message)
{
	static int fd = -1;
	char record[1024];
	int count = 0;
	ssize_t size;

	if (fd < 0) {
		fd = open(KERNEL_LOG, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
			fail("%s: %s", KERNEL_LOG, strerror(errno));
	}
	/* EPIPE: the oldest messages were overwritten; the next call returns the rest */
	while ((size = read(fd, record, sizeof(record) - 1)) > 0 || (size < 0 && errno == EPIPE)) {
		char *text;

		if (size < 0)
			continue;
		record[size] = '\0';
		text = strchr(record, ';');
		if ((strtol(record, NULL, 10) & 7) > 4 || text == NULL)
			continue;
		count++;
		text[strcspn(text, "\n")] = '\0';
		if (message != NULL && message[0] == '\0')
			snprintf(message, MESSAGE_SIZE, "%s", text + 1);
	}
	return count;
}

int board_run(const char *command)
{
	enum { MOST = 16 };
	char words[512], *argument[MOST + 1];
	int status, count = 0;
	pid_t child;

	snprintf(words, sizeof(words), "%s", command);
	for (char *more, *word = strtok_r(words, " ", &more); word && count < MOST;
	     word = strtok_r(NULL, " ", &more))
		argument[count++] = word;
	argument[count] = NULL;
	child = vfork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		for (int fd = 0; fd < 3; fd++)
			dup2(null, fd);
		execvp(argument[0], argument);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

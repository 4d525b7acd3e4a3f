/* Collects what a command prints to stdout and stderr, through pipes: stores the first 16 MiB of
 * each in a file, and counts all bytes. */
#define _GNU_SOURCE /* pipe2 */
#include "printed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "output.h"

struct printed printed_begin(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct printed printed = {0};
	int ends[2];

	output_path(path, directory, name);
	printed.file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (printed.file < 0 || pipe2(ends, O_CLOEXEC) != 0)
		fail("%s: %s", path, strerror(errno));
	printed.read = ends[0];
	printed.write = ends[1];
	return printed;
}

/* Reads a pipe's content; closes it and its file at its end. */
static void take(struct printed *printed)
{
	static char buffer[64 * 1024];
	ssize_t got = read(printed->read, buffer, sizeof(buffer));
	uint64_t room = printed->bytes < PRINTED_MOST ? PRINTED_MOST - printed->bytes : 0;
	size_t kept;

	if (got < 0 && errno == EINTR)
		return;
	if (got < 0)
		fail("reading what the command prints: %s", strerror(errno));
	kept = (uint64_t)got < room ? (size_t)got : (size_t)room;
	for (size_t done = 0; done < kept;) {
		ssize_t written = write(printed->file, buffer + done, kept - done);

		if (written < 0 && errno != EINTR)
			fail("keeping what the command prints: %s", strerror(errno));
		done += written > 0 ? (size_t)written : 0;
	}
	printed->bytes += (uint64_t)got;
	if (got == 0) {
		close(printed->read);
		printed->read = -1;
		if (close(printed->file) != 0)
			fail("keeping what the command prints: %s", strerror(errno));
	}
}

void printed_collect(struct printed printed[2])
{
	for (int i = 0; i < 2; i++)
		close(printed[i].write);
	while (printed[0].read >= 0 || printed[1].read >= 0) {
		/* poll ignores a descriptor of -1 */
		struct pollfd polled[] = {{.fd = printed[0].read, .events = POLLIN},
					  {.fd = printed[1].read, .events = POLLIN}};

		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			fail("poll: %s", strerror(errno));
		for (int i = 0; i < 2; i++)
			if (printed[i].read >= 0 && polled[i].revents)
				take(&printed[i]);
	}
}

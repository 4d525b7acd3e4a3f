/* Kills the process in the middle of a write(2) at the crash point of kill.c, by a write() in place
 * of libc's, for engines that wrap no writes. */
#define _GNU_SOURCE /* kill */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "engine_files.h"
#include "fail.h"

ssize_t __real_write(int fd, const void *buffer, size_t size);

ssize_t __wrap_write(int fd, const void *buffer, size_t size)
{
	size_t room = engine_files_room(size);

	if (room == size)
		return __real_write(fd, buffer, size);
	if (__real_write(fd, buffer, room) != (ssize_t)room)
		fail("a write of %zu bytes: %s", room, strerror(errno));
	return kill(getpid(), SIGKILL);
}

/*
 * Send commands to a block device, one after the other, past the page cache; print the time of
 * each.
 *
 * usage: latencies DEVICE < commands        destroys the device's data
 * A line of the input is OP OFFSET BYTES IDLE_NS. After IDLE_NS without a command, OP is
 *   r read   w write   f write with FUA   F FLUSH   d discard
 * A line of the output is BEGIN_NS LATENCY_NS (CLOCK_MONOTONIC), printed when all are done.
 * Reads and writes are asynchronous: a synchronous write with RWF_DSYNC also sends a FLUSH.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES (1 << 20)
#define PAGE 4096

struct command {
	char op;
	uint64_t offset;
	uint64_t bytes;
	uint64_t idle_ns;
	uint64_t begin_ns;
	uint64_t latency_ns;
};

static void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *format, ...)
{
	va_list arguments;

	fputs("latencies: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sleep until some ns after the last command has ended. */
static void be_idle(uint64_t since, uint64_t ns)
{
	uint64_t until = since + ns;
	struct timespec at = {(time_t)(until / 1000000000), (long)(until % 1000000000)};
	int error;

	while (ns && (error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL)))
		if (error != EINTR)
			fail("clock_nanosleep: %s", strerror(error));
}

/* Read or write, and wait for the end. */
static void transfer(aio_context_t queue, int file, const struct command *command, void *buffer)
{
	struct iocb request = {
		.aio_lio_opcode = command->op == 'r' ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE,
		.aio_rw_flags = command->op == 'f' ? RWF_DSYNC : 0,
		.aio_fildes = (uint32_t)file,
		.aio_buf = (uint64_t)(uintptr_t)buffer,
		.aio_nbytes = command->bytes,
		.aio_offset = (int64_t)command->offset,
	};
	struct iocb *requests[] = {&request};
	struct io_event event = {0};
	long done;

	if (syscall(SYS_io_submit, queue, 1, requests) != 1)
		fail("%c at %" PRIu64 ": %s", command->op, command->offset, strerror(errno));
	do
		done = syscall(SYS_io_getevents, queue, 1, 1, &event, NULL);
	while (done < 0 && errno == EINTR);
	if (done != 1 || event.res != (int64_t)command->bytes)
		fail("%c at %" PRIu64 ": %s", command->op, command->offset,
		     event.res < 0 ? strerror((int)-event.res) : "not all of it was transferred");
}

static void send(aio_context_t queue, int file, const struct command *command, void *buffer)
{
	uint64_t range[] = {command->offset, command->bytes};

	if (command->op == 'F') {
		if (fdatasync(file))
			fail("FLUSH: %s", strerror(errno));
	} else if (command->op == 'd') {
		if (ioctl(file, BLKDISCARD, range))
			fail("discard at %" PRIu64 ": %s", command->offset, strerror(errno));
	} else {
		transfer(queue, file, command, buffer);
	}
}

/* Read one line of the input; return whether there is one. */
static bool read_command(struct command *command, size_t number)
{
	char line[128], rest;

	if (!fgets(line, sizeof(line), stdin))
		return false;
	if (sscanf(line, "%c %" SCNu64 " %" SCNu64 " %" SCNu64 " %c", &command->op,
		   &command->offset, &command->bytes, &command->idle_ns, &rest) != 4 ||
	    !strchr("rwfFd", command->op))
		fail("line %zu is not OP OFFSET BYTES IDLE_NS, with OP r, w, f, F or d",
		     number + 1);
	if (strchr("rwf", command->op) && (!command->bytes || command->bytes > MOST_BYTES))
		fail("line %zu: %" PRIu64 " bytes are not 1 to %d", number + 1, command->bytes,
		     MOST_BYTES);
	return true;
}

static struct command *read_commands(size_t *number)
{
	size_t room = 0;
	struct command *commands = NULL, one = {0};

	for (*number = 0; read_command(&one, *number); (*number)++) {
		if (*number == room) {
			room = room ? 2 * room : 4096;
			commands = realloc(commands, room * sizeof(*commands));
			if (!commands)
				fail("no memory");
		}
		commands[*number] = one;
	}
	if (!*number)
		fail("there are no commands");
	return commands;
}

/* Data that no device can compress: xorshift. */
static void *make_data(void)
{
	uint64_t *buffer = aligned_alloc(PAGE, MOST_BYTES), x = 88172645463325252;

	if (!buffer)
		fail("no memory");
	for (size_t i = 0; i < MOST_BYTES / sizeof(*buffer); i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		buffer[i] = x;
	}
	return buffer;
}

int main(int argc, char **argv)
{
	aio_context_t queue = 0;
	struct command *commands;
	uint64_t end;
	size_t number;
	void *data, *room;
	int file;

	if (argc != 2)
		fail("usage: latencies DEVICE < commands");
	commands = read_commands(&number);
	data = make_data();
	room = aligned_alloc(PAGE, MOST_BYTES);
	if (!room)
		fail("no memory");
	/* O_EXCL: not of a device that is mounted */
	file = open(argv[1], O_RDWR | O_DIRECT | O_EXCL | O_CLOEXEC);
	if (file < 0)
		fail("%s: %s", argv[1], strerror(errno));
	if (syscall(SYS_io_setup, 1, &queue))
		fail("io_setup: %s", strerror(errno));
	end = now_ns();
	for (size_t i = 0; i < number; i++) {
		be_idle(end, commands[i].idle_ns);
		commands[i].begin_ns = now_ns();
		send(queue, file, &commands[i], commands[i].op == 'r' ? room : data);
		end = now_ns();
		commands[i].latency_ns = end - commands[i].begin_ns;
	}
	for (size_t i = 0; i < number; i++)
		printf("%" PRIu64 " %" PRIu64 "\n", commands[i].begin_ns, commands[i].latency_ns);
	if (fflush(stdout) || ferror(stdout))
		fail("standard output: %s", strerror(errno));
	free(commands);
	free(data);
	free(room);
	return 0;
}

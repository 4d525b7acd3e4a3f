/*
 * recorder - load probe files, and write down what they see.
 *
 *   recorder OUT.bin PROBE.bpf.o...
 *
 * Prints `attached N` when all N programs of all files are attached; on SIGINT lets go of them,
 * empties the ring and exits with 0. Never runs with fewer: any failure is one line on stderr,
 * and exit status 1. OUT.bin is as docs/formats.md says: between `attached` and `detached` all
 * that the probes wrote, and in `detached` what was lost.
 *
 * While it waits it sleeps: the probes wake it when the ring is half full (probe.h), so a run
 * that fits into the ring has the CPU to itself. It has all its memory locked by then.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "record.h"

enum { MAX_FILES = 64, MAX_PROGRAMS = 256 };

struct recorder {
	int ring_fd, out_fd;
	struct bpf_object *objects[MAX_FILES];
	int objects_count;
	struct bpf_link *links[MAX_PROGRAMS];
	int links_count;
	struct record buffer[16384]; /* records on their way to the file */
	size_t buffered;
};

static struct recorder recorder;
static const char *out_path;
static char last_words[512]; /* of libbpf: why it refused */

/* One line, and no file that is not whole. */
static _Noreturn void fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("recorder: ", stderr);
	vfprintf(stderr, format, arguments);
	if (last_words[0])
		fprintf(stderr, " (%s)", last_words);
	fputc('\n', stderr);
	va_end(arguments);
	if (out_path)
		unlink(out_path);
	exit(1);
}

/* What errno says, libbpf's own numbers too. */
static const char *why(void)
{
	static char text[128];
	libbpf_strerror(errno, text, sizeof(text));
	return text;
}

/* libbpf's warnings, one line of them kept: the first says what, the verifier's log follows. */
static int listen_to_libbpf(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (level == LIBBPF_WARN && !last_words[0]) {
		vsnprintf(last_words, sizeof(last_words), format, arguments);
		last_words[strcspn(last_words, "\n")] = '\0';
	}
	return 0;
}

static __u64 now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (__u64)time.tv_sec * 1000000000 + (__u64)time.tv_nsec;
}

static void write_out(const void *data, size_t size)
{
	const char *bytes = data;
	while (size) {
		ssize_t written = write(recorder.out_fd, bytes, size);
		if (written < 0)
			fail("write: %s", why());
		bytes += written;
		size -= (size_t)written;
	}
}

static void write_buffered(void)
{
	write_out(recorder.buffer, recorder.buffered * sizeof(struct record));
	recorder.buffered = 0;
}

static int keep(void *context, void *data, size_t size)
{
	(void)context;
	if (size % sizeof(struct record))
		fail("%zu bytes in the ring are no records", size);
	size_t count = size / sizeof(struct record);
	if (recorder.buffered + count > sizeof(recorder.buffer) / sizeof(recorder.buffer[0]))
		write_buffered();
	memcpy(recorder.buffer + recorder.buffered, data, size);
	recorder.buffered += count;
	return 0;
}

static void load(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	if (!object)
		fail("%s: %s", path, why());
	struct bpf_map *ring = bpf_object__find_map_by_name(object, "ring");
	if (!ring)
		fail("%s: it has no ring to write into: not a probe", path);
	if (bpf_map__reuse_fd(ring, recorder.ring_fd))
		fail("%s: its ring: %s", path, why());
	if (bpf_object__load(object))
		fail("%s: it cannot be loaded: %s", path, why());
	recorder.objects[recorder.objects_count++] = object;
}

static void attach(struct bpf_object *object)
{
	struct bpf_program *program;
	bpf_object__for_each_program(program, object)
	{
		if (recorder.links_count == MAX_PROGRAMS)
			fail("more than %d programs", MAX_PROGRAMS);
		struct bpf_link *link = bpf_program__attach(program);
		if (!link)
			fail("%s: it cannot be attached: %s", bpf_program__name(program), why());
		recorder.links[recorder.links_count++] = link;
	}
}

static void detach(void)
{
	for (int i = 0; i < recorder.links_count; i++)
		if (bpf_link__destroy(recorder.links[i]))
			fail("a probe cannot be detached: %s", why());
}

static struct losses losses(void)
{
	struct losses sum = {0};
	for (int i = 0; i < recorder.objects_count; i++) {
		struct losses one;
		const __u32 key = 0;
		struct bpf_map *map =
			bpf_object__find_map_by_name(recorder.objects[i], ".data.losses");
		if (!map || bpf_map__lookup_elem(map, &key, sizeof(key), &one, sizeof(one), 0))
			fail("%s: its losses cannot be read: %s",
			     bpf_object__name(recorder.objects[i]), why());
		sum.records += one.records;
		sum.updates += one.updates;
	}
	return sum;
}

/* SIGINT as a file: blocked, so that none is lost before it is waited for. */
static int interrupts(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	/* a shell starts its background jobs with SIGINT ignored */
	signal(SIGINT, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		fail("sigprocmask: %s", why());
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		fail("signalfd: %s", why());
	return fd;
}

static void record_until(int interrupt_fd, struct ring_buffer *ring)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = interrupt_fd};
	struct epoll_event filled = {.events = EPOLLIN, .data.fd = ring_buffer__epoll_fd(ring)};
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, interrupt_fd, &event) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, filled.data.fd, &filled))
		fail("epoll: %s", why());
	do {
		if (epoll_wait(epoll_fd, &event, 1, -1) < 0 && errno != EINTR)
			fail("epoll_wait: %s", why());
		if (event.data.fd != interrupt_fd && ring_buffer__poll(ring, 0) < 0)
			fail("the ring: %s", why());
	} while (event.data.fd != interrupt_fd);
}

int main(int count, char **arguments)
{
	if (count < 3) {
		fputs("usage: recorder OUT.bin PROBE.bpf.o...\n", stderr);
		return 1;
	}
	if (count - 2 > MAX_FILES)
		fail("%d probe files: there can be %d", count - 2, MAX_FILES);
	libbpf_set_print(listen_to_libbpf);
	int interrupt_fd = interrupts();
	recorder.out_fd = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (recorder.out_fd < 0)
		fail("%s: %s", arguments[1], why());
	out_path = arguments[1];
	recorder.ring_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0, RING_BYTES, NULL);
	if (recorder.ring_fd < 0)
		fail("a ring of %d bytes: %s", RING_BYTES, why());
	for (int i = 2; i < count; i++)
		load(arguments[i]);
	struct ring_buffer *ring = ring_buffer__new(recorder.ring_fd, keep, NULL, NULL);
	if (!ring)
		fail("the ring: %s", why());

	struct file_header header = {.record_size = sizeof(struct record),
				     .version = RECORD_VERSION};
	memcpy(header.magic, RECORD_MAGIC, sizeof(header.magic));
	write_out(&header, sizeof(header));
	for (int i = 0; i < recorder.objects_count; i++)
		attach(recorder.objects[i]);
	struct record attached = {.type = RECORD_ATTACHED, .n = (__u32)recorder.links_count};
	attached.begin_ns = attached.end_ns = now();
	write_out(&attached, sizeof(attached));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("mlockall: %s", why());
	printf("attached %d\n", recorder.links_count);
	fflush(stdout);

	record_until(interrupt_fd, ring);
	struct record detached = {.type = RECORD_DETACHED};
	detached.begin_ns = detached.end_ns = now();
	detach();
	if (ring_buffer__consume(ring) < 0)
		fail("the ring: %s", why());
	write_buffered();
	struct losses lost = losses();
	detached.n = (__u32)lost.records;
	detached.a = lost.updates;
	write_out(&detached, sizeof(detached));
	if (close(recorder.out_fd))
		fail("close: %s", why());
	return 0;
}

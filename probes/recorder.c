/*
 * recorder - load probes into the kernel and write their records to a file.
 *
 *   recorder [-r RECORDS] OUT.bin PROBE.bpf.o...
 *
 * Prints `attached N` when all N programs of all files are attached, and `by fentry` or `by
 * kprobe`: the build in use (probe.h), PROBE.bpf.o if the kernel supports it, else PROBE.kprobe.o.
 * On SIGINT it detaches them, empties the ring and exits with 0. It never runs with fewer: any
 * failure is one line on stderr, and exit status 1. OUT.bin is described in
 * docs/reference/formats.md: all records lie between `attached` and `detached`; the latter has the
 * number of lost records.
 *
 * The ring is an array mapped here, into which the probes write in place. The recorder sleeps until
 * half the ring is reserved (probe.h), so a run that fits has the CPU to itself. By then all its
 * memory is locked. RECORDS makes a smaller ring, for tests.
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
#include "recorder.h"

#define FIRST_BUILD ".bpf.o"
#define SECOND_BUILD ".kprobe.o"
enum { MAX_PROGRAMS = 256 };

struct recorder {
	int ring_fd, records_fd, alarm_fd, out_fd;
	struct ring *ring;
	struct record *records;
	struct bpf_link *links[MAX_PROGRAMS];
	int links_count;
};

static struct recorder recorder;
static const char *out_path;
static char last_words[512]; /* libbpf's last warning */

static void let_go(void)
{
	while (recorder.links_count)
		bpf_link__destroy(recorder.links[--recorder.links_count]);
}

void fail(const char *format, ...)
{
	static int is_failing;
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
	if (!is_failing++) {
		let_go();
		remove_kprobes();
	}
	exit(1);
}

const char *why(void)
{
	static char text[128];
	libbpf_strerror(errno, text, sizeof(text));
	return text;
}

/* Keep the first line of libbpf's warnings; the verifier's log follows it. */
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

/* Return the mapped content of a new map. */
static void *make_map(int *fd, const char *name, size_t value_size, __u32 entries)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	*fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), (__u32)value_size, entries,
			     &options);
	if (*fd < 0)
		fail("a map of %u x %zu bytes: %s", entries, value_size, why());
	void *content =
		mmap(NULL, value_size * entries, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	if (content == MAP_FAILED)
		fail("a map of %u x %zu bytes: %s", entries, value_size, why());
	return content;
}

static void make_ring(__u32 size)
{
	recorder.ring = make_map(&recorder.ring_fd, "ring", sizeof(struct ring), 1);
	recorder.ring->limit = size;
	recorder.ring->mask = size - 1;
	recorder.records = make_map(&recorder.records_fd, "records", sizeof(struct record), size);
	recorder.alarm_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "alarm", 0, 0, ALARM_BYTES, NULL);
	if (recorder.alarm_fd < 0)
		fail("a ring buffer of %d bytes: %s", ALARM_BYTES, why());
}

static int is_finished(const struct record *record)
{
	const struct record seen = {.head = __atomic_load_n(&record->head, __ATOMIC_ACQUIRE)};
	return seen.type != 0;
}

/* Return the number of the first record not drained yet. */
static __u64 drained(void)
{
	return recorder.ring->limit - recorder.ring->mask - 1;
}

/* Write the finished records to the file, from the oldest to the first unfinished one. */
static void drain(void)
{
	struct ring *ring = recorder.ring;
	for (;;) {
		size_t first = drained() & ring->mask, end = first;
		while (end <= ring->mask && is_finished(&recorder.records[end]))
			end++;
		if (end == first)
			return;
		write_out(&recorder.records[first], (end - first) * sizeof(struct record));
		for (size_t i = first; i < end; i++)
			recorder.records[i].head = 0;
		/* from here on the probes may reuse these places */
		__atomic_store_n(&ring->limit, ring->limit + end - first, __ATOMIC_RELEASE);
	}
}

static struct bpf_map *map_of(const struct bpf_object *object, const char *path, const char *name)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);
	if (!map)
		fail("%s: it has no map %s: not a probe", path, name);
	return map;
}

static struct bpf_object *open_object(const char *path)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	if (!object)
		fail("%s: %s", path, why());
	return object;
}

/* Return the path of the build of a probe that the kernel supports. */
static void build_of(const char *given, int by_fentry, char *path, size_t size)
{
	size_t stem = strlen(given);
	if (stem > strlen(FIRST_BUILD) && !strcmp(given + stem - strlen(FIRST_BUILD), FIRST_BUILD))
		stem -= strlen(FIRST_BUILD);
	else
		by_fentry = 1; /* not a probe's name: opening it will report why */
	const char *rest = by_fentry ? given + stem : SECOND_BUILD;
	if ((size_t)snprintf(path, size, "%.*s%s", (int)stem, given, rest) >= size)
		fail("%s: a path that is too long", given);
}

/*
 * Link all probe files into one object: each loaded object reads the types of the kernel and its
 * modules again, 1.1 of 5.9 s for all probes on the virtual board.
 */
static struct bpf_object *link_probes(char **paths, int count, int by_fentry)
{
	char linked[32]; /* the path of a file in memory */
	snprintf(linked, sizeof(linked), "/proc/self/fd/%d", memfd_create("probes", MFD_CLOEXEC));
	struct bpf_linker *linker = bpf_linker__new(linked, NULL);
	if (!linker)
		fail("%s: %s", linked, why());
	for (int i = 0; i < count; i++) {
		char path[4096];
		build_of(paths[i], by_fentry, path, sizeof(path));
		struct bpf_object *probe = open_object(path);
		map_of(probe, path, ".data.ring");
		bpf_object__close(probe);
		if (bpf_linker__add_file(linker, path, NULL))
			fail("%s: it cannot be linked: %s", path, why());
	}
	if (bpf_linker__finalize(linker))
		fail("the probes cannot be linked: %s", why());
	bpf_linker__free(linker);
	return open_object(linked);
}

static void share(const struct bpf_object *object, const char *name, int fd)
{
	if (bpf_map__reuse_fd(map_of(object, "the probes", name), fd))
		fail("the map %s: %s", name, why());
}

static void load(struct bpf_object *object)
{
	share(object, ".data.ring", recorder.ring_fd);
	share(object, "records", recorder.records_fd);
	share(object, "alarm", recorder.alarm_fd);
	set_constants(object);
	if (bpf_object__load(object))
		fail("the probes cannot be loaded: %s", why());
}

/*
 * Attach in reverse order: each file has entries before returns. A call whose entry alone is seen
 * would never end, and be counted as lost.
 */
static void attach(struct bpf_object *object)
{
	struct bpf_program *program = NULL;
	while ((program = bpf_object__prev_program(object, program))) {
		if (recorder.links_count == MAX_PROGRAMS)
			fail("more than %d programs", MAX_PROGRAMS);
		struct bpf_link *link = bpf_program__type(program) == BPF_PROG_TYPE_KPROBE
						? attach_kprobe(program)
						: bpf_program__attach(program);
		if (!link)
			fail("%s: it cannot be attached: %s", bpf_program__name(program), why());
		recorder.links[recorder.links_count++] = link;
	}
}

/*
 * Return how often the kernel skipped a program because it was already running on that CPU, as when
 * a thread was preempted in it. Linux 6.1 counts none of a kprobe's.
 */
static __u64 skipped_runs(const struct bpf_object *object)
{
	struct bpf_program *program = NULL;
	__u64 sum = 0;
	while ((program = bpf_object__prev_program(object, program))) {
		struct bpf_prog_info info = {0};
		__u32 size = sizeof(info);
		if (bpf_prog_get_info_by_fd(bpf_program__fd(program), &info, &size))
			fail("%s: no count of skipped runs: %s", bpf_program__name(program), why());
		sum += info.recursion_misses;
	}
	return sum;
}

static void detach(void)
{
	while (recorder.links_count)
		if (bpf_link__destroy(recorder.links[--recorder.links_count]))
			fail("a probe cannot be detached: %s", why());
}

/* Return a signalfd for SIGINT, blocked so that none is lost before the wait. */
static int interrupts(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	/* a shell starts background jobs with SIGINT ignored */
	signal(SIGINT, SIG_DFL);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		fail("sigprocmask: %s", why());
	int fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		fail("signalfd: %s", why());
	return fd;
}

static int ignore(void *context, void *data, size_t size)
{
	(void)context, (void)data, (void)size;
	return 0;
}

static void record_until(int interrupt_fd, struct ring_buffer *alarm)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = interrupt_fd};
	struct epoll_event half_full = {.events = EPOLLIN, .data.fd = ring_buffer__epoll_fd(alarm)};
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, interrupt_fd, &event) ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, half_full.data.fd, &half_full))
		fail("epoll: %s", why());
	for (;;) {
		int ready = epoll_wait(epoll_fd, &event, 1, -1);
		if (ready < 0 && errno != EINTR)
			fail("epoll_wait: %s", why());
		if (ready < 1)
			continue;
		if (event.data.fd == interrupt_fd)
			return;
		if (ring_buffer__consume(alarm) < 0)
			fail("the alarm: %s", why());
		drain();
	}
}

/* Parse -r: the ring's size in records. */
static __u32 ring_size(const char *text)
{
	char *end;
	unsigned long size = strtoul(text, &end, 10);
	if (*end || size < 64 || size > RING_RECORDS || size & (size - 1))
		fail("-r %s: a ring has a power of two of records, 64 to %d", text, RING_RECORDS);
	return (__u32)size;
}

int main(int count, char **arguments)
{
	__u32 size = RING_RECORDS;
	libbpf_set_print(listen_to_libbpf);
	if (count > 2 && !strcmp(arguments[1], "-r")) {
		size = ring_size(arguments[2]);
		arguments += 2;
		count -= 2;
	}
	if (count < 3) {
		fputs("usage: recorder [-r RECORDS] OUT.bin PROBE.bpf.o...\n", stderr);
		return 1;
	}
	int interrupt_fd = interrupts();
	recorder.out_fd = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (recorder.out_fd < 0)
		fail("%s: %s", arguments[1], why());
	out_path = arguments[1];
	make_ring(size);
	int by_fentry = can_fentry();
	struct bpf_object *probes = link_probes(arguments + 2, count - 2, by_fentry);
	load(probes);
	struct ring_buffer *alarm = ring_buffer__new(recorder.alarm_fd, ignore, NULL, NULL);
	if (!alarm)
		fail("the alarm: %s", why());

	struct file_header header = {.record_size = sizeof(struct record),
				     .version = RECORD_VERSION};
	memcpy(header.magic, RECORD_MAGIC, sizeof(header.magic));
	write_out(&header, sizeof(header));
	attach(probes);
	struct record attached = {.type = RECORD_ATTACHED, .n = (__u32)recorder.links_count};
	attached.begin_ns = attached.end_ns = now();
	write_out(&attached, sizeof(attached));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail("mlockall: %s", why());
	printf("attached %d\nby %s\n", recorder.links_count, by_fentry ? "fentry" : "kprobe");
	fflush(stdout);

	record_until(interrupt_fd, alarm);
	struct record detached = {.type = RECORD_DETACHED};
	detached.begin_ns = detached.end_ns = now();
	detach();
	__u64 missed = remove_kprobes() + skipped_runs(probes);
	drain();
	detached.n = (__u32)(recorder.ring->next - drained());
	detached.a = recorder.ring->updates + missed;
	write_out(&detached, sizeof(detached));
	if (close(recorder.out_fd))
		fail("close: %s", why());
	return 0;
}

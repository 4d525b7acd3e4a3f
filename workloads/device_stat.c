/* Takes the block device's counters (/sys/block/DEV/stat) at the begin, the end and after each
 * phase of a run, and writes them to device_stat.csv; settles the device: syncs the filesystem and
 * waits until no request is in flight. */
#define _GNU_SOURCE /* syncfs */
#include "device_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"
#include "output.h"

/* Fields of /sys/block/<dev>/stat since Linux 5.5; older kernels end earlier.
 * The names are those of Documentation/block/stat.rst. */
static const char header[] = "label,time_ns,inflight_reads,inflight_writes,"
			     "read_ios,read_merges,read_sectors,read_ticks,"
			     "write_ios,write_merges,write_sectors,write_ticks,"
			     "in_flight,io_ticks,time_in_queue,"
			     "discard_ios,discard_merges,discard_sectors,discard_ticks,"
			     "flush_ios,flush_ticks\n";
enum { STAT_FIELDS = 17, INFLIGHT_FIELDS = 2 };

enum { POLL_NS = 10 * 1000 * 1000, IDLE_TIMEOUT_S = 60 };

struct snapshot {
	const char *label, *phase;
	uint64_t time_ns;
	char stat[512], inflight[64];
};

static int stat_fd = -1, inflight_fd = -1;
static struct snapshot snapshots[STAT_SNAPSHOTS];
static size_t snapshot_count;

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		fail("device counters: opening %s: %s", path, strerror(errno));
	return fd;
}

static void read_file(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);

	if (length < 0)
		fail("device counters: reading: %s", strerror(errno));
	text[length] = '\0';
}

void stat_open(const char *path)
{
	char inflight_path[PATH_MAX];
	const char *slash;

	/* Fault the memory in before anything is measured. */
	memset(snapshots, 0xff, sizeof(snapshots));
	if (path == NULL)
		return;
	slash = strrchr(path, '/');
	snprintf(inflight_path, sizeof(inflight_path), "%.*sinflight",
		 slash ? (int)(slash - path) + 1 : 0, path);
	stat_fd = open_file(path);
	inflight_fd = open_file(inflight_path);
}

void stat_snapshot(const char *label, const char *phase)
{
	struct snapshot *snapshot = &snapshots[snapshot_count];

	if (snapshot_count == sizeof(snapshots) / sizeof(snapshots[0]))
		fail("too many device snapshots");
	snapshot_count++;
	snapshot->label = label;
	snapshot->phase = phase;
	snapshot->stat[0] = snapshot->inflight[0] = '\0';
	snapshot->time_ns = clock_now();
	if (stat_fd < 0)
		return;
	read_file(inflight_fd, snapshot->inflight, sizeof(snapshot->inflight));
	read_file(stat_fd, snapshot->stat, sizeof(snapshot->stat));
}

static int device_is_idle(void)
{
	uint64_t reads, writes;
	char text[64];

	read_file(inflight_fd, text, sizeof(text));
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &reads, &writes) != INFLIGHT_FIELDS)
		fail("device counters: the inflight file has no two numbers");
	return reads == 0 && writes == 0;
}

static void wait_until_idle(void)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	uint64_t limit = clock_now() + IDLE_TIMEOUT_S * NANOSECONDS_PER_SECOND;

	while (!device_is_idle()) {
		if (clock_now() > limit)
			fail("the device still has requests in flight after %d s", IDLE_TIMEOUT_S);
		nanosleep(&pause, NULL);
	}
}

void stat_settle(const char *folder)
{
	if (folder != NULL) {
		int fd = open(folder, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			fail("opening %s for syncfs: %s", folder, strerror(errno));
		if (syncfs(fd) != 0)
			fail("syncfs of %s: %s", folder, strerror(errno));
		close(fd);
	}
	if (inflight_fd >= 0)
		wait_until_idle();
}

/* Writes the first `count` numbers of a text, each after a comma. */
static void write_fields(FILE *file, const char *text, int count)
{
	for (int i = 0; i < count; i++) {
		size_t length;

		text += strspn(text, " \n");
		length = strspn(text, "0123456789");
		fprintf(file, ",%.*s", (int)length, text);
		text += length;
	}
}

void stat_write(const char *directory)
{
	FILE *file = output_open(directory, "device_stat.csv");

	fputs(header, file);
	for (size_t i = 0; i < snapshot_count; i++) {
		const struct snapshot *s = &snapshots[i];

		fprintf(file, "%s%s,%" PRIu64, s->label, s->phase ? s->phase : "", s->time_ns);
		write_fields(file, s->inflight, INFLIGHT_FIELDS);
		write_fields(file, s->stat, STAT_FIELDS);
		fputc('\n', file);
	}
	output_commit(file);
}

/*
 * kprobes.c - make kprobes and kretprobes in tracefs, attach BPF programs to them, remove them, and
 * count the calls that they missed.
 *
 * Made in tracefs rather than by libbpf: a kretprobe has a limited number of pending returns, by
 * default the number of CPUs, and misses further calls, such as a second concurrent sync on one
 * CPU. Here the limit is PLACES. Missed calls, as counted by the kernel, are reported.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.h"

#define TRACEFS "/sys/kernel/tracing/"
#define GROUP "commitpath"
enum { PLACES = 512, MAX_EVENTS = 64, NAME_BYTES = 64 };

/* Named after the program and this process's pid. */
static char events[MAX_EVENTS][NAME_BYTES];
static int events_count;

/* Write a line to kprobe_events; return 0 or the error. */
static int order(const char *line)
{
	int fd = open(TRACEFS "kprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	int error = fd < 0 || write(fd, line, strlen(line)) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return error;
}

static int remove_event(const char *name)
{
	char line[NAME_BYTES + 16];
	snprintf(line, sizeof(line), "-:" GROUP "/%s", name);
	return order(line);
}

/* Remove the kprobes that a killed recorder left. */
static void remove_stale(void)
{
	char line[512];
	FILE *all = fopen(TRACEFS "kprobe_events", "re");
	if (!all)
		fail(TRACEFS "kprobe_events (CONFIG_KPROBE_EVENTS): %s", why());
	while (fgets(line, sizeof(line), all)) {
		char *name = strstr(line, ":" GROUP "/"), *pid;
		if (!name)
			continue;
		name += strlen(":" GROUP "/");
		name[strcspn(name, " \n")] = '\0';
		pid = strrchr(name, '_');
		/* the kernel refuses to remove what is in use */
		if (pid && kill(atoi(pid + 1), 0) && errno == ESRCH)
			remove_event(name);
	}
	fclose(all);
}

static int id_of(const char *name)
{
	char path[NAME_BYTES + 64];
	int id = -1;
	snprintf(path, sizeof(path), TRACEFS "events/" GROUP "/%s/id", name);
	FILE *file = fopen(path, "re");
	if (!file || fscanf(file, "%d", &id) != 1)
		fail("%s: %s", path, why());
	fclose(file);
	return id;
}

struct bpf_link *attach_kprobe(struct bpf_program *program)
{
	const char *section = bpf_program__section_name(program);
	const char *function = strchr(section, '/') + 1;
	char line[256], *name = events[events_count];

	if (!events_count)
		remove_stale();
	if (events_count == MAX_EVENTS)
		fail("more than %d kprobes", MAX_EVENTS);
	snprintf(name, NAME_BYTES, "%s_%d", bpf_program__name(program), getpid());
	if (section[strlen("k")] == 'r')
		snprintf(line, sizeof(line), "r%d:" GROUP "/%s %s", PLACES, name, function);
	else
		snprintf(line, sizeof(line), "p:" GROUP "/%s %s", name, function);
	if ((errno = order(line)))
		fail("%s: no kprobe: %s", section, why());
	events_count++;

	struct perf_event_attr event = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(event),
		.config = (__u64)id_of(name),
	};
	/* opened for one CPU; the program runs on all */
	int fd = (int)syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		fail("%s: perf_event_open: %s", section, why());
	return bpf_program__attach_perf_event(program, fd);
}

/* Return the number of missed calls; kprobe_profile has lines of name, hits and misses. */
static __u64 missed(void)
{
	char name[NAME_BYTES];
	unsigned long long hits, misses, sum = 0;
	FILE *profile = fopen(TRACEFS "kprobe_profile", "re");
	if (!profile)
		fail(TRACEFS "kprobe_profile: %s", why());
	while (fscanf(profile, "%63s %llu %llu", name, &hits, &misses) == 3)
		for (int i = 0; i < events_count; i++)
			if (!strcmp(name, events[i]))
				sum += misses;
	fclose(profile);
	return sum;
}

__u64 remove_kprobes(void)
{
	if (!events_count)
		return 0;
	__u64 sum = missed();
	int error = 0;
	while (events_count) {
		int failed = remove_event(events[--events_count]);
		error = error ? error : failed;
	}
	if ((errno = error))
		fail("a kprobe cannot be removed: %s", why());
	return sum;
}

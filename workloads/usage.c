#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "usage.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"
#include "fail.h"

struct usage usage_now(void)
{
	struct rusage thread;

	if (getrusage(RUSAGE_THREAD, &thread) != 0)
		fail("reading the thread's context switches: %s", strerror(errno));
	return (struct usage){
		.cpu_ns = clock_read(CLOCK_THREAD_CPUTIME_ID),
		.waited = thread.ru_nvcsw,
		.preempted = thread.ru_nivcsw,
	};
}

struct usage usage_between(const struct usage *begin, const struct usage *end)
{
	return (struct usage){
		.cpu_ns = end->cpu_ns - begin->cpu_ns,
		.waited = end->waited - begin->waited,
		.preempted = end->preempted - begin->preempted,
	};
}

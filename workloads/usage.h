/* What the calling thread has used of the CPU, by the scheduler's own account: a witness of the
 * times at which an observer says that it was off the CPU. */
#ifndef COMMITPATH_USAGE_H
#define COMMITPATH_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t cpu_ns;   /* CLOCK_THREAD_CPUTIME_ID */
	int64_t waited;	   /* times it left the CPU to wait (ru_nvcsw) */
	int64_t preempted; /* times it was put off the CPU (ru_nivcsw) */
};

struct usage usage_now(void);

/* What was used between two readings. */
struct usage usage_between(const struct usage *begin, const struct usage *end);

#endif

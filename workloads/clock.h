/* Reads CLOCK_MONOTONIC in nanoseconds, by which all results are timed, and sleeps until a time or
 * until the next whole second. */
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "fail.h"

#define NANOSECONDS_PER_SECOND UINT64_C(1000000000)

/* Nanoseconds of a clock. */
static inline uint64_t clock_read(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NANOSECONDS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t clock_now(void)
{
	return clock_read(CLOCK_MONOTONIC);
}

/* Sleeps until CLOCK_MONOTONIC has that time, in ns. Ends the run on an error. */
static inline void clock_wait_until(uint64_t ns)
{
	struct timespec until = {.tv_sec = (time_t)(ns / NANOSECONDS_PER_SECOND),
				 .tv_nsec = (long)(ns % NANOSECONDS_PER_SECOND)};
	int error;

	while ((error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL)) == EINTR)
		;
	if (error != 0)
		fail("cannot wait until %llu ns of CLOCK_MONOTONIC: %s", (unsigned long long)ns,
		     strerror(error));
}

/* Sleeps until CLOCK_MONOTONIC is a whole second. */
static inline void clock_wait_whole_second(void)
{
	clock_wait_until((clock_now() / NANOSECONDS_PER_SECOND + 1) * NANOSECONDS_PER_SECOND);
}

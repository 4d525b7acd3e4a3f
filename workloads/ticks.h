/* Takes fast timestamps during the measurement, from the counter behind CLOCK_MONOTONIC (one
 * instruction instead of clock_gettime's sixty), and converts them to nanoseconds of that clock
 * afterwards. */
#pragma once

#include <stdint.h>

#include "clock.h"

/* The counter; on another CPU than arm64 CLOCK_MONOTONIC itself. */
static inline uint64_t ticks_now(void)
{
#ifdef __aarch64__
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return clock_now();
#endif
}

/* The counter's ticks in a second. */
static inline uint64_t ticks_frequency(void)
{
#ifdef __aarch64__
	uint64_t hertz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
	return hertz;
#else
	return NANOSECONDS_PER_SECOND;
#endif
}

/* Read counter and clock together, at the begin and end of the recording. */
void ticks_begin(void);
void ticks_end(void);

/* The CLOCK_MONOTONIC of a tick, to TICKS_TOLERANCE_NS; after ticks_end. Ends the run if the clock
 * did not keep the counter's pace in between: somebody set its rate. */
enum { TICKS_TOLERANCE_NS = 250 };
uint64_t ticks_to_ns(uint64_t ticks);

/* Nanoseconds of so many ticks at a frequency in Hz, to the nanosecond below. */
uint64_t ticks_span_ns(uint64_t ticks, uint64_t hertz);

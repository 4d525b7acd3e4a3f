/* Takes fast timestamps during the measurement, from the counter behind CLOCK_MONOTONIC (one
 * instruction instead of clock_gettime's sixty), and converts them to nanoseconds of that clock
 * afterwards. */
#include "ticks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fail.h"

/* The clock is read between two readings of the counter: the offset is uncertain by half their
 * distance. The closest pair of so many is used. */
enum { READINGS = 32 };

static uint64_t begin_ticks, frequency;
static int64_t begin_ns, end_off_ns;

uint64_t ticks_span_ns(uint64_t ticks, uint64_t hertz)
{
	return ticks / hertz * NANOSECONDS_PER_SECOND +
	       ticks % hertz * NANOSECONDS_PER_SECOND / hertz;
}

/* A tick and the clock's time then. */
static void read_both(uint64_t *ticks, int64_t *ns)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		uint64_t before = ticks_now(), now = clock_now(), after = ticks_now();

		if (after - before >= best)
			continue;
		best = after - before;
		*ticks = before;
		*ns = (int64_t)(now - ticks_span_ns(best, frequency) / 2);
	}
}

void ticks_begin(void)
{
	frequency = ticks_frequency();
	read_both(&begin_ticks, &begin_ns);
}

void ticks_end(void)
{
	uint64_t ticks;
	int64_t ns;

	read_both(&ticks, &ns);
	end_off_ns = ns - begin_ns - (int64_t)ticks_span_ns(ticks - begin_ticks, frequency);
}

uint64_t ticks_to_ns(uint64_t ticks)
{
	if (llabs(end_off_ns) > TICKS_TOLERANCE_NS)
		fail("CLOCK_MONOTONIC went %" PRId64 " ns off the CPU's counter in the run: "
		     "the log of the engine's calls has no times",
		     end_off_ns);
	return (uint64_t)begin_ns + ticks_span_ns(ticks - begin_ticks, frequency);
}

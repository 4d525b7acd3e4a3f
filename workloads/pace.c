#include "pace.h"

#include "clock.h"

void pace_wait(const struct generator *generator, size_t number, uint64_t first_ns)
{
	int64_t pace_ns = generator->options->pace_ns;
	uint64_t due;

	if (pace_ns == PACE_NONE || number == 0)
		return;
	if (pace_ns == PACE_RECORDED)
		due = first_ns + generator->due_ns;
	else
		due = first_ns + number * (uint64_t)pace_ns;
	if (due > clock_now())
		clock_wait_until(due);
}

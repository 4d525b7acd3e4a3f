/* Shared by workloads that imitate benchmark tools: their phases insert, update and delete, and the
 * check of --rows for a run that begins with each. */
#include "tool.h"

#include <inttypes.h>

#include "fail.h"

const struct workload_phase tool_phases[TOOL_PHASES] = {
	[TOOL_INSERT] = {.name = "insert"},
	[TOOL_UPDATE] = {.name = "update"},
	[TOOL_DELETE] = {.name = "delete"},
};

void tool_check(const struct options *options, size_t first_phase)
{
	int64_t wanted = first_phase == TOOL_INSERT ? 0 : options->n;

	if (options->rows != wanted)
		fail_usage("--rows: a run of %s that begins with %s has %" PRId64
			   " rows before, not %" PRId64,
			   workload_names[options->workload], tool_phases[first_phase].name, wanted,
			   options->rows);
}

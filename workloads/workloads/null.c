/* The phases of apsys17 without any statement, to measure the cost of
 * the harness itself (clock, marks, probes, device counters). */
#include "sample.h"
#include "tool.h"

static const enum operation_kind kinds[] = {OPERATION_INSERT, OPERATION_UPDATE, OPERATION_DELETE};

static void next(struct generator *generator, struct transaction *transaction)
{
	*transaction =
		(struct transaction){kinds[generator->phase], generator->operations, 0, 0, 0};
}

static const struct workload null_workload = {
	.name = "null",
	.summary = "the same phases with no statement in them: what the harness costs",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &sample_table,
	.buffer_size = sample_buffer_size,
	.fill = sample_insert,
	.next = next,
};
WORKLOAD_REGISTER(null_workload)

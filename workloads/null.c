/* The phases of apsys17 without any statement: what is left is the cost of
 * the harness itself (clock, marks, probes, device counters). */
#include "sample.h"
#include "workload.h"

static const struct workload_phase phases[] = {
	{"insert", "insert", ROWS_SAME},
	{"update", "update", ROWS_SAME},
	{"delete", "delete", ROWS_SAME},
};

static size_t statement_size(const struct options *options)
{
	(void)options;
	return 1;
}

static void next(struct generator *generator, struct statement *statement)
{
	statement->text = generator->buffer;
	statement->length = 0;
	statement->value_bytes = 0;
}

static const struct workload null_workload = {
	.name = "null",
	.summary = "the same phases with no statement in them: what the harness costs",
	.phases = phases,
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.populate = sample_populate,
	.warm = sample_warm,
	.count = sample_count,
	.statement_size = statement_size,
	.next = next,
};
WORKLOAD_REGISTER(null_workload)

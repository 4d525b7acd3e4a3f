/* The workload of "The Dangers and Complexities of SQLite Benchmarking"
 * (APSys 2017), as the authors' app does it: inserts, then updates, then
 * deletes, one literal statement per transaction. Rows are picked uniformly
 * in [0, max id) with replacement, so some statements hit a row that does
 * not exist and change nothing. */
#include "fail.h"
#include "sample.h"
#include "tool.h"

static void check(const struct options *options, size_t first_phase)
{
	if (options->rows == 0 && first_phase != TOOL_INSERT)
		fail_usage("--phases: %s of an empty table changes nothing; insert first, or give "
			   "--rows",
			   tool_phases[first_phase].name);
}

static int64_t pick_key(struct generator *generator)
{
	/* An empty table has no id to pick from: pick 0, which no row has. */
	uint64_t limit = generator->last_key > 0 ? (uint64_t)generator->last_key : 1;

	return (int64_t)prng_below(&generator->prng, limit);
}

static void next(struct generator *generator, struct transaction *transaction)
{
	size_t size = (size_t)generator->options->value_size;

	switch (generator->phase) {
	case TOOL_INSERT:
		sample_insert(generator, transaction);
		break;
	case TOOL_UPDATE:
		transaction_of_key(generator, transaction, OPERATION_UPDATE, pick_key(generator),
				   sample_value(generator, 'u'), size);
		break;
	default:
		transaction_of_key(generator, transaction, OPERATION_DELETE, pick_key(generator),
				   NULL, 0);
	}
}

static const struct workload apsys17 = {
	.name = "apsys17",
	.summary = "n inserts, n updates, n deletes, one statement per transaction",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &sample_table,
	.asks_last_key = true,
	.check = check,
	.buffer_size = sample_buffer_size,
	.fill = sample_insert,
	.next = next,
};
WORKLOAD_REGISTER(apsys17)

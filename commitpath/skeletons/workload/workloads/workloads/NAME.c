/* {{NAME}}: an example: n inserts, then n updates of rows picked uniformly. Say what the workload
 * stands for and where its numbers come from.
 *
 * What a workload renders never changes afterwards: stored runs are compared with it. Randomness
 * comes from generator->prng only. ../workload.h explains each member. */
#include "fail.h"
#include "sample.h"
#include "workload.h"

enum { INSERT, UPDATE };

static const struct workload_phase phases[] = {
	[INSERT] = {.name = "insert"},
	[UPDATE] = {.name = "update"},
};

/* Optional: ends a run that makes no sense with these options. */
static void check(const struct options *options, size_t first_phase)
{
	if (first_phase == UPDATE && options->rows == 0)
		fail_usage("--rows: update of {{NAME}} needs rows to pick from");
}

/* Required: makes the next transaction of a phase. An engine without SQL executes only operations
 * with keys (transaction_of_key). */
static void next(struct generator *generator, struct transaction *transaction)
{
	uint64_t rows = (uint64_t)generator->last_key;

	if (generator->phase == INSERT)
		sample_insert(generator, transaction);
	else
		transaction_of_key(generator, transaction, OPERATION_UPDATE,
				   1 + (int64_t)prng_below(&generator->prng, rows),
				   sample_value(generator, 'u'),
				   (size_t)generator->options->value_size);
}

/* Optional members that are left out: value_size, batch, mixes, chained, several, open, creates,
 * reopens, transactions. */
static const struct workload workload = {
	.name = "{{NAME}}",			  /* required: the file's name */
	.summary = "n inserts, n updates by key", /* required: one line for help */
	.phases = phases,			  /* required */
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.table = &sample_table,		   /* required: (id, value); or a table of its own */
	.asks_last_key = true,		   /* optional: generator->last_key before each phase */
	.check = check,			   /* optional */
	.buffer_size = sample_buffer_size, /* optional: bytes of generator->buffer */
	.fill = sample_insert,		   /* optional: the rows before the run (ROWS) */
	.next = next,			   /* required */
};
WORKLOAD_REGISTER(workload)

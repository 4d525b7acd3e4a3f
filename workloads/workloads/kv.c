/* The workload kv, of keys and values: n inserts, n updates, n reads, n batches of ten updates, n
 * deletes, of keys that are there, picked uniformly; a batch's keys are neighbours. Any engine can
 * execute it. */
#include "fail.h"
#include "sample.h"
#include "workload.h"

enum { INSERT, UPDATE, READ, BATCH, DELETE };

static const struct workload_phase phases[] = {
	[INSERT] = {.name = "insert"}, [UPDATE] = {.name = "update"}, [READ] = {.name = "read"},
	[BATCH] = {.name = "batch"},   [DELETE] = {.name = "delete"},
};

enum { BATCH_SIZE = 10 };

static void check(const struct options *options, size_t first_phase)
{
	int64_t least = first_phase == INSERT ? 0 : BATCH_SIZE;

	if (options->rows < least || options->rows + options->n < BATCH_SIZE)
		fail_usage("--rows: %s of kv needs %d keys to pick from", phases[first_phase].name,
			   BATCH_SIZE);
}

/* The first of `count` keys that are neighbours. */
static int64_t pick(struct generator *generator, int64_t count)
{
	return 1 +
	       (int64_t)prng_below(&generator->prng, (uint64_t)(generator->last_key - count + 1));
}

static void next(struct generator *generator, struct transaction *transaction)
{
	size_t size = (size_t)generator->options->value_size;
	int64_t key;

	switch (generator->phase) {
	case INSERT:
		sample_insert(generator, transaction);
		break;
	case UPDATE:
		transaction_of_key(generator, transaction, OPERATION_UPDATE, pick(generator, 1),
				   sample_value(generator, 'u'), size);
		break;
	case READ:
		transaction_of_key(generator, transaction, OPERATION_READ, pick(generator, 1), NULL,
				   0);
		break;
	case BATCH:
		key = pick(generator, BATCH_SIZE);
		for (int i = 0; i < BATCH_SIZE; i++)
			generator->operations[i] = (struct operation){OPERATION_UPDATE,
								      key + i,
								      sample_value(generator, 'b'),
								      size,
								      0,
								      0};
		transaction_of_batch(generator, transaction, BATCH_SIZE, BATCH_SIZE * size);
		break;
	default:
		transaction_of_key(generator, transaction, OPERATION_DELETE, pick(generator, 1),
				   NULL, 0);
	}
}

static const struct workload kv = {
	.name = "kv",
	.summary = "n inserts, updates, reads, batches of ten updates, and deletes, by key",
	.phases = phases,
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.table = &sample_table,
	.batch = BATCH_SIZE,
	.asks_last_key = true,
	.check = check,
	.buffer_size = sample_buffer_size,
	.fill = sample_insert,
	.next = next,
};
WORKLOAD_REGISTER(kv)

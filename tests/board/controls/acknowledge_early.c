/* A negative control: a driver that acknowledges each transaction before it commits it. Linked into
 * a driver of a test's own with the linker's --wrap (tests/board/test_controls.py). */
#include <stdlib.h>

#include "engine.h"
#include "record.h"

void __real_record_open(struct record *record, const char *directory, size_t capacity);
void __wrap_record_open(struct record *record, const char *directory, size_t capacity);
bool __real_engine_commit(struct database *database, struct outcome *outcome, struct error *error);
bool __wrap_engine_commit(struct database *database, struct outcome *outcome, struct error *error);
void __real_record_write(const struct record *record, const struct workload *workload,
			 const char *directory);
void __wrap_record_write(const struct record *record, const struct workload *workload,
			 const char *directory);

static struct record *kept;
static uint64_t *early; /* ns, of each transaction */

void __wrap_record_open(struct record *record, const char *directory, size_t capacity)
{
	__real_record_open(record, directory, capacity);
	kept = record;
	early = calloc(capacity, sizeof(*early));
	if (early == NULL)
		abort();
}

bool __wrap_engine_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	size_t number = kept->transaction_count - 1;

	record_acknowledge(kept, number, &(struct outcome){0, 0, 0});
	early[number] = kept->transactions[number].end_ns;
	return __real_engine_commit(database, outcome, error);
}

/* The driver has acknowledged each once more since. */
void __wrap_record_write(const struct record *record, const struct workload *workload,
			 const char *directory)
{
	for (size_t i = 0; i < kept->transaction_count; i++)
		kept->transactions[i].end_ns = early[i];
	__real_record_write(record, workload, directory);
}

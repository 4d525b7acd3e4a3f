#include "record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fail.h"
#include "marks.h"
#include "output.h"

void record_open(struct record *record, size_t capacity)
{
	memset(record, 0, sizeof(*record));
	record->transactions = malloc(capacity * sizeof(struct transaction_record));
	if (record->transactions == NULL)
		fail("no memory for %zu transactions", capacity);
	/* Any value but zero: writing zeroes may be optimised into calloc,
	 * whose pages are not there yet. */
	memset(record->transactions, 0xff, capacity * sizeof(struct transaction_record));
}

void record_phase_begin(struct record *record, const char *name)
{
	struct phase *phase = &record->phases[record->phase_count];

	if (record->phase_count == MAX_PHASES)
		fail("more than %d phases", MAX_PHASES);
	record->phase_count++;
	phase->name = name;
	commitpath_phase(name);
	phase->begin_ns = clock_now();
}

void record_phase_end(struct record *record, uint64_t transactions)
{
	struct phase *phase = &record->phases[record->phase_count - 1];

	phase->end_ns = clock_now();
	phase->transactions = transactions;
}

static void write_transactions(const struct record *record, const struct workload *workload,
			       FILE *file)
{
	fputs("transaction,phase,op,begin_ns,end_ns,changes\n", file);
	for (size_t i = 0; i < record->transaction_count; i++) {
		const struct transaction_record *t = &record->transactions[i];
		const struct workload_phase *phase = &workload->phases[t->phase];

		fprintf(file, "%zu,%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRId32 "\n", i, phase->name,
			phase->op, t->begin_ns, t->end_ns, t->changes);
	}
}

void record_write(const struct record *record, const struct workload *workload,
		  const char *directory)
{
	FILE *file = output_open(directory, "transactions.csv");

	write_transactions(record, workload, file);
	output_commit(file);

	file = output_open(directory, "phases.csv");
	fputs("phase,begin_ns,end_ns,transactions\n", file);
	for (const struct phase *p = record->phases; p < record->phases + record->phase_count; p++)
		fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", p->name, p->begin_ns,
			p->end_ns, p->transactions);
	output_commit(file);
}

void record_close(struct record *record)
{
	free(record->transactions);
	record->transactions = NULL;
}

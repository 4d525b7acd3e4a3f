/* Transactions and phases, kept in memory while the run is measured and
 * written out afterwards. */
#ifndef COMMITPATH_RECORD_H
#define COMMITPATH_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "workload.h"

/* Those of the workload, and warm, close and drain. */
enum { MAX_PHASES = MAX_WORKLOAD_PHASES + 3 };

struct transaction_record {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int32_t changes;	   /* rows that it changed */
	uint32_t phase;		   /* index in the workload's phases */
};

struct phase {
	const char *name;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t transactions;
};

struct record {
	struct transaction_record *transactions;
	size_t transaction_count;
	struct phase phases[MAX_PHASES];
	size_t phase_count;
};

/* Allocates room for `capacity` transactions and faults it in. Ends the run
 * when there is no memory. */
void record_open(struct record *record, size_t capacity);

/* A phase begins now; marks it for observers. */
void record_phase_begin(struct record *record, const char *name);

/* The phase that began last ends now, after `transactions`. */
void record_phase_end(struct record *record, uint64_t transactions);

/* Writes transactions.csv and phases.csv. */
void record_write(const struct record *record, const struct workload *workload,
		  const char *directory);

/* Frees the memory. */
void record_close(struct record *record);

#endif

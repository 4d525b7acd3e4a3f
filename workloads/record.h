/* Records begin, end and outcome of each transaction in a mapped file, which survives a kill, and
 * times and CPU use of each phase, while the run is measured; writes transactions.csv and
 * phases.csv afterwards.
 *
 * The transactions' memory is the file acknowledged.bin of the output folder, mapped: what was
 * acknowledged before the process failed, or was killed, is in it. Where that folder is a tmpfs, it
 * costs no I/O and outlives the device. */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "engine.h"
#include "workload.h"

/* Phases of the workload, and warm, close and drain. */
enum { MAX_PHASES = MAX_WORKLOAD_PHASES + 3 };

/* docs/reference/formats.md, raw/driver/acknowledged.bin */
struct transaction_record {
	uint64_t begin_ns; /* CLOCK_MONOTONIC; 0: it did not begin */
	uint64_t end_ns;   /* the same; 0: it was not acknowledged */
	int64_t bytes;	   /* of the values that it read */
	int32_t changes;   /* rows that it changed; CHANGES_UNKNOWN */
	int32_t rows;	   /* that it read */
	uint32_t phase;	   /* index in the workload's phases */
	uint32_t kind;	   /* enum operation_kind */
};

/* CPU use of the driver's thread, by the scheduler's account: a second source for the times at
 * which an observer finds it off the CPU. */
struct usage {
	uint64_t cpu_ns;   /* CLOCK_THREAD_CPUTIME_ID */
	int64_t waited;	   /* times it left the CPU to wait (ru_nvcsw) */
	int64_t preempted; /* times it was put off the CPU (ru_nivcsw) */
};

struct phase {
	const char *name;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t transactions;
	struct usage usage; /* in it; while it runs, what there was before it */
};

struct record {
	struct transaction_record *transactions; /* in acknowledged.bin, mapped */
	size_t transaction_count;
	struct phase phases[MAX_PHASES];
	size_t phase_count;
};

/* Makes acknowledged.bin with room for `capacity` transactions and faults it in. Ends the run
 * when there is no room. */
void record_open(struct record *record, const char *directory, size_t capacity);

/* Transaction `number`, of a phase and a kind, begins now. */
static inline void record_begin(struct record *record, size_t number, uint32_t phase,
				enum operation_kind kind)
{
	record->transactions[number].phase = phase;
	record->transactions[number].kind = (uint32_t)kind;
	record->transactions[number].begin_ns = clock_now();
}

/* Transaction `number` is acknowledged, and this is what came of it. */
static inline void record_acknowledge(struct record *record, size_t number,
				      const struct outcome *outcome)
{
	record->transactions[number].changes = outcome->changes;
	record->transactions[number].rows = outcome->rows;
	record->transactions[number].bytes = outcome->bytes;
	/* Last: a record with it is whole, whenever the process ends. */
	atomic_signal_fence(memory_order_release);
	record->transactions[number].end_ns = clock_now();
}

/* A phase begins now; marks it for observers. */
void record_phase_begin(struct record *record, const char *name);

/* The phase that began last ends now, after `transactions`. */
void record_phase_end(struct record *record, uint64_t transactions);

/* Returns the name that a transaction is counted under (`op` of transactions.csv). */
const char *transaction_op(const struct workload *workload, size_t phase, enum operation_kind kind);

/* Writes transactions.csv and phases.csv. */
void record_write(const struct record *record, const struct workload *workload,
		  const char *directory);

/* Removes acknowledged.bin, as its content is written. */
void record_close(const char *directory);

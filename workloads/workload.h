/* What a workload is: one C file in this folder that ends with a
 * WORKLOAD_REGISTER line. No other file names it. */
#ifndef COMMITPATH_WORKLOAD_H
#define COMMITPATH_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "prng.h"
#include "sqlite3.h"

/* What is timed as one transaction: a literal SQL text. One statement runs in
 * autocommit; several stand between BEGIN and COMMIT. */
struct statement {
	const char *text;   /* NUL-terminated, in the generator's buffer; "" does nothing */
	size_t length;	    /* bytes, without the NUL */
	size_t value_bytes; /* bytes of column values that the text carries */
};

/* What a phase's changes do to the number of rows. */
enum rows_effect { ROWS_SAME, ROWS_ADDED, ROWS_REMOVED, ROWS_ALL_GONE };

struct workload_phase {
	const char *name; /* in phases.csv and --phases */
	const char *op;	  /* in transactions.csv: what is counted together */
	enum rows_effect effect;
};

struct workload;

/* Makes the statements of one phase. They depend on nothing else than what
 * is in here, so the same texts can be made again after the measurement. */
struct generator {
	const struct workload *workload;
	const struct options *options;
	size_t phase;
	int64_t number; /* of the next statement in the phase, from 0 */
	int64_t input;	/* what phase_input answered */
	struct prng prng;
	char *buffer; /* of statement_size bytes */
};

enum { MAX_WORKLOAD_PHASES = 16 };

struct workload {
	const char *name;
	const char *summary; /* one line for --help */
	const struct workload_phase *phases;
	size_t phase_count;

	/* The one --value-size it can have; 0: any. */
	int64_t value_size;

	/* A phase needs what those before it made: only the first phases can
	 * be run alone. */
	bool chained;

	/* Ends the program with a usage error when a run that begins with this
	 * phase makes no sense with these options. NULL: they all do. */
	void (*check)(const struct options *options, size_t first_phase);

	/* Transactions of a phase. NULL: n in each. */
	int64_t (*transactions)(const struct options *options, size_t phase);

	/* Creates and fills the tables in an empty database, in the
	 * transaction the caller has open. Fails the run on an error. */
	void (*populate)(sqlite3 *db, const struct options *options);

	/* Reads all the data once and checks that it is what the options
	 * say; returns the number of rows. Fails the run on a difference. */
	int64_t (*warm)(sqlite3 *db, const struct options *options);

	/* Counts the rows. Fails the run on an error. */
	int64_t (*count)(sqlite3 *db);

	/* Reads from the database what a phase's statements depend on, just
	 * before the phase begins. NULL: nothing. */
	int64_t (*phase_input)(sqlite3 *db);

	/* Bytes that the longest statement needs, with its NUL. */
	size_t (*statement_size)(const struct options *options);

	/* Makes the next statement of the phase that `generator` is in. */
	void (*next)(struct generator *generator, struct statement *statement);
};

enum { MAX_WORKLOADS = 16 };

/* Names of the workloads that are linked in, NULL-terminated. */
extern const char *workload_names[MAX_WORKLOADS + 1];

/* The workload of that index in workload_names. */
const struct workload *workload_at(size_t index);

/* Called before main(), by WORKLOAD_REGISTER. */
void workload_register(const struct workload *workload);

/* The phases that --phases names, as indices in the workload's phases, in
 * their order; returns how many. Without --phases: all of them. Ends the
 * program with a usage error when the workload cannot do what is asked. */
size_t workload_select(const struct options *options, size_t phases[MAX_WORKLOAD_PHASES]);

/* Ends the program with a usage error when the workload cannot have the
 * --value-size. */
void workload_check_value_size(const struct options *options);

/* Transactions of a phase. */
int64_t workload_transactions(const struct options *options, size_t phase);

/* Allocates the generator's buffer and faults it in. Fails the run when
 * there is no memory. */
void generator_open(struct generator *generator, const struct workload *workload,
		    const struct options *options);

/* Sets the generator to the start of a phase; reseeds it. */
void generator_begin_phase(struct generator *generator, size_t phase, int64_t input);

/* Makes the next statement of the phase. */
void generator_next(struct generator *generator, struct statement *statement);

/* Frees the buffer. */
void generator_close(struct generator *generator);

#define WORKLOAD_REGISTER(workload)                                  \
	__attribute__((constructor)) static void register_this(void) \
	{                                                            \
		workload_register(&(workload));                      \
	}

#endif

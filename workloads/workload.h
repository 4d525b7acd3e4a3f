/* Interface of a workload, which makes the transactions of a run (operations on keys, or SQL
 * texts), and of the generator that calls it. It is one C file in workloads/ that ends with a
 * WORKLOAD_REGISTER line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distribution.h"
#include "error.h"
#include "options.h"
#include "prng.h"

/* OPERATION_INSERT and so on, in the order of operations.yml, of operations and of transactions. An
 * insert is of a new key. For a missing key, an update or the write of a read-modify-write changes
 * nothing in SQL, and adds the key in a key-value store. */
enum operation_kind {
#define OPERATION(name, word, mutates, reads, rows) OPERATION_##name,
#include "operations.h"
#undef OPERATION
	OPERATION_KINDS,
	KEY_OPERATIONS = OPERATION_BATCH, /* those before it have a key */
};

/* Each kind's line in operations.yml. */
extern const struct operation_traits {
	const char *word;
	bool mutates, reads;
	int rows;
} operation_traits[OPERATION_KINDS];

/* The kind of that word; OPERATION_KINDS: there is none. */
enum operation_kind operation_of_word(const char *word, size_t length);

struct operation {
	enum operation_kind kind;
	int64_t key; /* not of OPERATION_SQL */
	/* The value of an insert or update, or a SQL text with a NUL at its end. */
	const char *data;
	size_t size;  /* bytes of it, without that NUL */
	int64_t line; /* of a user's file, where the text begins; 0: not from a file */
	int64_t rows; /* of a scan: the most that it returns, from the key on */
};

/* Operations timed as one. A single one runs in autocommit; several are an atomic batch in which no
 * operation reads what another one writes. None: nothing is done. */
struct transaction {
	/* What it is counted as: that of all its operations, or OPERATION_BATCH for several with as
	 * many rows after them as before. */
	enum operation_kind kind;
	const struct operation *operations; /* valid until the generator makes the next */
	size_t count;
	size_t value_bytes; /* bytes of column values that the operations carry */
	size_t database;    /* that it is of, from 0 */
};

/* How a table is made, written and read. An engine without SQL only uses that its operations have
 * keys. */
struct table {
	const char *const *create; /* SQL texts, NULL-terminated */
	const int64_t *lines;	   /* of a user's file, where each begins; NULL: they are in none */
	const size_t *databases;   /* that each is of; NULL: of the only one */
	/* Tables that are counted, NULL-terminated. None: they are unknown; no row is counted, and
	 * a scan reads everything. */
	const char *const *names;
	const char *scan;     /* a query of every column of every row; NULL: count is enough */
	int value_column;     /* of `scan`: is --value-size bytes long; -1: not checked */
	const char *last_key; /* a query of the largest key */

	/* Texts of the operations with keys, with %k for the key, %v for the value as a literal and
	 * %n for the rows of a scan. NULL: none is of that kind; of inserts: all operations are
	 * OPERATION_SQL. */
	const char *operations[KEY_OPERATIONS];
};

struct workload_phase {
	const char *name; /* in phases.csv and --phases */
	/* Its transactions are counted under its name, as they are too different for a mean with
	 * others of their kinds. */
	bool is_group;
	bool empties; /* no row is left after it */
};

struct workload;

/* Makes the transactions of one phase, which depend only on its content, so that they can be made
 * again after the measurement. */
struct generator {
	const struct workload *workload;
	const struct options *options;
	size_t phase;
	int64_t number;	  /* of the next transaction in the phase, from 0 */
	int64_t last_key; /* before the phase, if the workload needs it */
	int64_t inserted; /* records, by a workload that mixes */
	struct zipf ranks, sizes;
	struct prng prng;
	char *buffer;		      /* of buffer_size bytes; keeps its content within a phase */
	struct operation *operations; /* of the transaction; workload_batch() of them */
	uint64_t due_ns; /* when the transaction began in a recording, after the first; else 0 */
};

enum { MAX_WORKLOAD_PHASES = 16 };

struct workload {
	const char *name;
	const char *summary; /* one line for --help */
	const struct workload_phase *phases;
	size_t phase_count;
	const struct table *table;

	/* The one --value-size it can have; 0: any. */
	int64_t value_size;

	/* Its values have any size up to --value-size. */
	bool any_size;

	/* The most operations of a transaction; 0: one, or --batch if it mixes. */
	size_t batch;

	/* It needs --mix, and has --batch operations in each transaction. */
	bool mixes;

	/* A phase needs what those before it made: only the first phases can
	 * be run alone. */
	bool chained;

	/* Whether its transactions may be of several databases. */
	bool several;

	/* Reads what --file names, before all else. NULL: it takes none. */
	void (*open)(const struct options *options);

	/* Its tables are made by the run, with the settings of the run, before anything is timed;
	 * `populate` leaves a database without a page. */
	bool creates;

	/* Each phase is a process of its own: the database is closed and opened again between
	 * two, in no phase. */
	bool reopens;

	/* Whether generator.last_key is to be read, just before each phase. */
	bool asks_last_key;

	/* Ends the program with a usage error when a run that begins with this
	 * phase makes no sense with these options. NULL: they all do. */
	void (*check)(const struct options *options, size_t first_phase);

	/* Transactions of a phase. NULL: n in each. */
	int64_t (*transactions)(const struct options *options, size_t phase);

	/* Bytes that the longest data of a transaction needs, with a NUL. NULL: it is not in the
	 * generator's buffer. */
	size_t (*buffer_size)(const struct options *options);

	/* Makes the insert of the next row that the table has before a run. The
	 * generator is in phase 0. NULL: it has none. */
	void (*fill)(struct generator *generator, struct transaction *transaction);

	/* Makes the next transaction of the phase that `generator` is in. */
	void (*next)(struct generator *generator, struct transaction *transaction);
};

enum { MAX_WORKLOADS = 16 };

/* Names of the workloads that are linked in, NULL-terminated. */
extern const char *workload_names[MAX_WORKLOADS + 1];

/* The workload of that index in workload_names. */
const struct workload *workload_at(size_t index);

/* Called before main(), by WORKLOAD_REGISTER. */
void workload_register(const struct workload *workload);

/* Returns the number of phases that --phases names, without it all, and their indices in order.
 * Ends the program with a usage error if the workload cannot run them. */
size_t workload_select(const struct options *options, size_t phases[MAX_WORKLOAD_PHASES]);

/* Opens the workload. Ends the program with a usage error when the workload cannot have the
 * --value-size or a --file, or the engine not the workload. */
void workload_check(const struct options *options);

/* The most operations of a transaction. */
size_t workload_batch(const struct workload *workload, const struct options *options);

/* Returns whether a row may have a value of this size; sets the error if not. */
bool workload_check_size(const struct options *options, int64_t row, int64_t size,
			 struct error *error);

/* Transactions of a phase. */
int64_t workload_transactions(const struct options *options, size_t phase);

/* Allocates the generator's memory and faults it in. Fails the run when
 * there is none. */
void generator_open(struct generator *generator, const struct workload *workload,
		    const struct options *options);

/* Sets the generator to the start of a phase; reseeds it. */
void generator_begin_phase(struct generator *generator, size_t phase, int64_t last_key);

/* Make the next transaction of the phase, or the next row of a table that is filled. */
void generator_next(struct generator *generator, struct transaction *transaction);
void generator_fill(struct generator *generator, struct transaction *transaction);

/* Frees the memory. */
void generator_close(struct generator *generator);

/* The transaction of one operation: a key with a value of `size` bytes, or without one. */
static inline void transaction_of_key(struct generator *generator, struct transaction *transaction,
				      enum operation_kind kind, int64_t key, const char *value,
				      size_t size)
{
	*generator->operations = (struct operation){kind, key, value, size, 0, 0};
	*transaction = (struct transaction){kind, generator->operations, 1, size, 0};
}

/* The transaction of several operations, which are made already. */
static inline void transaction_of_batch(struct generator *generator,
					struct transaction *transaction, size_t count,
					size_t value_bytes)
{
	*transaction =
		(struct transaction){OPERATION_BATCH, generator->operations, count, value_bytes, 0};
}

/* The transaction of one SQL text, from the buffer's begin to `end`, where its NUL is; `kind` is
 * what it does. */
static inline void transaction_of_sql(struct generator *generator, struct transaction *transaction,
				      enum operation_kind kind, const char *end, size_t value_bytes)
{
	size_t size = (size_t)(end - generator->buffer);

	*generator->operations =
		(struct operation){OPERATION_SQL, 0, generator->buffer, size, 0, 0};
	*transaction = (struct transaction){kind, generator->operations, 1, value_bytes, 0};
}

#define WORKLOAD_REGISTER(workload)                                        \
	__attribute__((constructor)) static void register_##workload(void) \
	{                                                                  \
		workload_register(&(workload));                            \
	}

/* The command `driver run`: opens the databases, executes and times the workload's transactions
 * phase by phase, then verifies the rows and writes all result files. */
#include "run.h"

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "clock.h"
#include "cold.h"
#include "config.h"
#include "databases.h"
#include "device_stat.h"
#include "engine.h"
#include "fail.h"
#include "file_calls.h"
#include "marks.h"
#include "moved.h"
#include "output.h"
#include "process_memory.h"
#include "record.h"
#include "stored.h"
#include "ticks.h"
#include "workload.h"
#include "written.h"

struct run {
	const struct options *options;
	const struct workload *workload;
	const char *folder; /* that the databases are in */
	struct databases databases;
	struct record record;
	struct generator generator;
	size_t phases[MAX_WORKLOAD_PHASES]; /* those to run */
	size_t phase_count;
	int64_t last_keys[MAX_WORKLOAD_PHASES]; /* before the workload's phases */
	struct findings findings;
	struct error error; /* of what failed last */
	bool executed;	    /* an operation ran: there may be something to write back */
};

/* Ends the run if a call of the engine failed. */
static void require(const struct run *run, bool succeeded)
{
	if (!succeeded)
		fail("%s", run->error.text);
}

_Noreturn static void fail_transaction(const struct run *run, size_t number, size_t phase,
				       enum operation_kind kind)
{
	fail("transaction %zu, phase %s, op %s: %s", number, run->workload->phases[phase].name,
	     transaction_op(run->workload, phase, kind), run->error.text);
}

/* Sleeps until transaction `number`, which the generator made last, is due: by --pace-ns, after the
 * start of the first one. */
static void wait_until_due(const struct run *run, size_t number)
{
	int64_t pace_ns = run->options->pace_ns;
	uint64_t due = run->record.transactions[0].begin_ns;

	if (pace_ns == PACE_NONE || number == 0)
		return;
	due += pace_ns == PACE_RECORDED ? run->generator.due_ns : number * (uint64_t)pace_ns;
	if (due > clock_now())
		clock_wait_until(due);
}

static void run_phase(struct run *run, size_t index)
{
	const struct workload_phase *phase = &run->workload->phases[index];
	int64_t count = workload_transactions(run->options, index);
	struct record *record = &run->record;
	struct transaction transaction;
	struct rendered rendered;

	/* Read before the phase begins, so that its time is in no phase. */
	if (run->workload->asks_last_key)
		require(run,
			engine.last_key(run->databases.of[0], &run->last_keys[index], &run->error));
	generator_begin_phase(&run->generator, index, run->last_keys[index]);
	record_phase_begin(record, phase->name);
	for (int64_t i = 0; i < count; i++) {
		size_t number = record->transaction_count++;
		struct database *database;
		struct outcome outcome;

		generator_next(&run->generator, &transaction);
		database = run->databases.of[transaction.database];
		if (!engine.render(database, &transaction, &rendered, &run->error))
			fail_transaction(run, number, index, transaction.kind);
		run->executed |= transaction.count > 0;
		wait_until_due(run, number);
		commitpath_tx_begin(number, phase->name);
		record_begin(record, number, (uint32_t)index, transaction.kind);
		if (!engine_commit(database, &outcome, &run->error))
			fail_transaction(run, number, index, transaction.kind);
		record_acknowledge(record, number, &outcome);
		commitpath_tx_end(number, phase->name);
		if (run->options->checkpoint_every > 0 &&
		    (int64_t)(number + 1) % run->options->checkpoint_every == 0 &&
		    transaction.count > 0)
			require(run, databases_each(&run->databases, engine.maintain, &run->error));
	}
	record_phase_end(record, (uint64_t)count);
	stat_snapshot("end-", phase->name);
}

static void open_databases(struct run *run)
{
	require(run, databases_open(&run->databases, run->options, run->workload, ENGINE_RUN,
				    &run->error));
	require(run, databases_check(&run->databases, run->options, &run->error));
}

/* Closes the databases and opens them again, as when a process ends and the next one begins. */
static void reopen(struct run *run)
{
	require(run, databases_each(&run->databases, engine.close, &run->error));
	open_databases(run);
}

/* Reads all rows, so that later reads come from memory. */
static void scan(struct run *run)
{
	record_phase_begin(&run->record, "warm");
	require(run, databases_rows(&run->databases, engine.scan, &run->findings.rows_before,
				    &run->error));
	if (run->findings.rows_before != run->options->rows)
		fail("the database has %" PRId64 " rows, --rows is %" PRId64,
		     run->findings.rows_before, run->options->rows);
	record_phase_end(&run->record, 0);
}

/* Keeps the program's pages in memory, where it is allowed to. Only those of now: with MCL_FUTURE,
 * the engine's allocations would fail at the limit of a user that is not root. */
static void lock_memory(void)
{
	(void)mlockall(MCL_CURRENT);
}

/* All that has a cost and need not be measured. */
static void prepare(struct run *run)
{
	const struct options *options = run->options;
	size_t transactions = 0;

	static char path[PATH_MAX];

	for (size_t i = 0; i < run->phase_count; i++)
		transactions += (size_t)workload_transactions(options, run->phases[i]);

	snprintf(path, sizeof(path), "%s", options->database);
	run->folder = dirname(path);
	output_prepare(options->output_dir);
	stat_open(options->device_stat);
	process_memory_prepare();
	if (options->vfs_log || options->written || options->record_opening)
		require(run, engine.log_prepare != NULL
				     ? engine.log_prepare(options->vfs_log ? transactions : 0,
							  &run->error)
				     : error_set(&run->error,
						 "--vfs-log, --written: %s has no log of its calls",
						 engine.title()));
	if (options->written || options->record_opening) {
		written_begin();
		stored_begin();
	}
	/* Else the first write to each page takes time in the process that a trial forks. */
	if (engine.maps_files || options->open_on_second)
		lock_memory();
	if (options->open_on_second)
		clock_wait_whole_second();
	open_databases(run);
	if (persistent_role != NULL)
		persistent_prepare(transactions);
	if (run->workload->creates)
		require(run, databases_each(&run->databases, engine_create_tables, &run->error));
	record_open(&run->record, options->output_dir, transactions);
	generator_open(&run->generator, run->workload, options);

	if (options->drop_caches == NULL)
		scan(run);
	require(run, databases_each(&run->databases, engine_read_properties, &run->error));
	if (!engine.maps_files)
		lock_memory();
	if (options->open_on_second)
		clock_wait_whole_second();
	stat_settle(run->folder);
	if (options->drop_caches != NULL) {
		cold_begin(options->drop_caches, options);
		stat_settle(NULL);
	}
}

static void read_file_sizes(const struct run *run, size_t number, struct file_sizes *sizes)
{
	if (engine.file_sizes != NULL)
		sizes->count = engine.file_sizes(database_path(run->options, number), sizes->of);
}

static void measure(struct run *run)
{
	if (run->options->record_opening && !run->options->written)
		written_end();
	stat_snapshot("begin", NULL);
	if (run->options->vfs_log) {
		ticks_begin();
		engine.log_begin();
		stored_run();
	}
	/* For the host, which cannot see the board's clock. */
	output_say(run->options->announce, "driver: the timed region begins");
	run->findings.monotonic_ns = clock_now();
	run->findings.realtime_ns = clock_read(CLOCK_REALTIME);
	if (run->options->start_on_second)
		clock_wait_whole_second();
	for (size_t i = 0; i < run->phase_count; i++) {
		if (i > 0 && run->workload->reopens)
			reopen(run);
		run_phase(run, run->phases[i]);
	}

	/* Between the phases: in the timed region, which closing the database
	 * ends, but in no phase. Memory, a few settings and file sizes, no I/O. */
	process_memory_read();
	require(run, databases_check(&run->databases, run->options, &run->error));
	for (size_t i = 0; i < run->databases.count; i++)
		read_file_sizes(run, i, &run->findings.databases[i].before_close);

	record_phase_begin(&run->record, "close");
	require(run, databases_each(&run->databases, engine.close, &run->error));
	record_phase_end(&run->record, 0);
	stat_snapshot("end-", "close");
	output_say(run->options->announce, "driver: the timed region ends");

	/* ext4's syncfs flushes even when nothing is dirty; a workload that did
	 * nothing must not be charged for that. */
	record_phase_begin(&run->record, "drain");
	stat_settle(run->executed ? run->folder : NULL);
	record_phase_end(&run->record, 0);
	if (run->options->vfs_log) {
		engine.log_end();
		ticks_end();
	}
	stat_snapshot("end", NULL);
}

static void save_written(const char *path)
{
	char stored[PATH_MAX];

	written_save(path);
	snprintf(stored, sizeof(stored), "%s-stored", path);
	stored_save(stored);
}

/* Makes every transaction again, from what the measured pass began with, and writes down what the
 * engine was given. Its hash is the host's work: here it would be 15 instructions a byte. */
static void write_rendered(struct run *run, const struct databases *databases)
{
	FILE *file = output_open(run->options->output_dir, "rendered");
	struct transaction transaction;
	struct rendered rendered;
	size_t number = 0;

	for (size_t p = 0; p < run->phase_count; p++) {
		size_t phase = run->phases[p];
		int64_t count = workload_transactions(run->options, phase);

		generator_begin_phase(&run->generator, phase, run->last_keys[phase]);
		for (int64_t i = 0; i < count; i++, number++) {
			struct database_findings *found;

			generator_next(&run->generator, &transaction);
			run->findings.operations[phase][transaction.kind] +=
				(int64_t)transaction.count;
			found = &run->findings.databases[transaction.database];
			found->transactions++;
			if (run->record.transactions[number].changes != CHANGES_UNKNOWN)
				found->changes += run->record.transactions[number].changes;
			if (transaction.count == 0)
				continue;
			require(run, engine.render(databases->of[transaction.database],
						   &transaction, &rendered, &run->error));
			fwrite(rendered.data, 1, rendered.size, file);
			putc('\n', file);
			run->findings.sql_bytes += (int64_t)transaction.value_bytes;
		}
	}
	output_commit(file);
}

/* Counts the rows again; they must be what the transactions changed. Of an engine that does not
 * know how many it changed, only the host can say (analysis/checks/workload_replay.py). */
static void count_rows(struct run *run, struct databases *databases)
{
	int64_t expected = run->options->rows;
	bool known = true;

	for (size_t i = 0; i < run->record.transaction_count; i++) {
		const struct transaction_record *t = &run->record.transactions[i];

		if (run->workload->phases[t->phase].empties)
			expected = 0;
		else
			expected += operation_traits[t->kind].rows * (int64_t)t->changes;
		known &= t->changes != CHANGES_UNKNOWN;
	}
	require(run,
		databases_rows(databases, engine_count, &run->findings.rows_after, &run->error));
	/* Not scanned: if the count after is right, here or on the host, so was the one before. */
	if (run->options->drop_caches != NULL)
		run->findings.rows_before = run->options->rows;
	if (known && run->findings.rows_after != expected)
		fail("the database has %" PRId64 " rows, the transactions leave %" PRId64,
		     run->findings.rows_after, expected);
}

/* Opens the databases once more after the measurement, renders every transaction again and counts
 * the rows. */
static void verify(struct run *run)
{
	static struct databases databases;

	require(run, databases_open(&databases, run->options, run->workload, ENGINE_VERIFY,
				    &run->error));
	write_rendered(run, &databases);
	count_rows(run, &databases);
	require(run, databases_each(&databases, engine.close, &run->error));
}

static void print_summary(const struct run *run)
{
	for (size_t i = 0; i < run->record.phase_count; i++) {
		const struct phase *phase = &run->record.phases[i];
		double seconds =
			(double)(phase->end_ns - phase->begin_ns) / (double)NANOSECONDS_PER_SECOND;

		printf("%-18s %6" PRIu64 " transactions %12.6f s", phase->name, phase->transactions,
		       seconds);
		if (phase->transactions > 0)
			printf(" %12.2f per second", (double)phase->transactions / seconds);
		putchar('\n');
	}
}

void run(const struct options *options)
{
	static struct run run;

	run.options = options;
	run.workload = workload_at((size_t)options->workload);
	workload_check(options);
	run.phase_count = workload_select(options, run.phases);
	prepare(&run);
	measure(&run);
	if (options->written)
		save_written(options->written);

	for (size_t i = 0; i < run.databases.count; i++)
		read_file_sizes(&run, i, &run.findings.databases[i].after_close);
	verify(&run);
	record_write(&run.record, run.workload, options->output_dir);
	stat_write(options->output_dir);
	if (options->vfs_log) {
		file_calls_write(options->output_dir, options->databases > 1);
		moved_write(options->output_dir);
	}
	persistent_write(options->output_dir);
	config_write(options, &run.findings);
	print_summary(&run);
	record_close(options->output_dir);
}

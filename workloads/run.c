#include "run.h"

#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>

#include "clock.h"
#include "config.h"
#include "database.h"
#include "fail.h"
#include "marks.h"
#include "output.h"
#include "record.h"
#include "settings.h"
#include "stat.h"
#include "vfs_calls.h"
#include "vfs_shim.h"
#include "workload.h"

struct run {
	const struct options *options;
	const struct workload *workload;
	const char *folder; /* of the database */
	sqlite3 *db;
	struct record record;
	struct generator generator;
	size_t phases[MAX_WORKLOAD_PHASES]; /* those to run */
	size_t phase_count;
	int64_t inputs[MAX_WORKLOAD_PHASES]; /* of the workload's phases */
	struct findings findings;
	bool executed; /* a statement ran: there may be something to write back */
};

_Noreturn static void fail_transaction(const struct run *run, const char *operation, size_t number,
				       const struct workload_phase *phase)
{
	fail("transaction %zu, phase %s: %s of %s failed: SQLite error %d (%s)", number,
	     phase->name, operation, phase->op, sqlite3_extended_errcode(run->db),
	     sqlite3_errmsg(run->db));
}

/* Executes one statement: prepare, step and finalize each time, as
 * sqlite3_exec and an app with literal SQL do. Returns where it ends. */
static const char *execute_one(struct run *run, const char *text, size_t length, size_t number,
			       const struct workload_phase *phase)
{
	sqlite3_stmt *statement;
	const char *end;
	int result;

	result = sqlite3_prepare_v2(run->db, text, (int)length + 1, &statement, &end);
	if (result != SQLITE_OK)
		fail_transaction(run, "prepare", number, phase);
	do
		result = sqlite3_step(statement);
	while (result == SQLITE_ROW);
	if (result != SQLITE_DONE)
		fail_transaction(run, "step", number, phase);
	if (sqlite3_finalize(statement) != SQLITE_OK)
		fail_transaction(run, "finalize", number, phase);
	return end;
}

/* Executes a transaction; returns the number of rows that it changed. */
static int32_t execute(struct run *run, const struct statement *sql, size_t number,
		       const struct workload_phase *phase)
{
	const char *text = sql->text, *end = sql->text + sql->length;
	int before = sqlite3_total_changes(run->db);

	while (text < end) {
		run->executed = true;
		text = execute_one(run, text, (size_t)(end - text), number, phase);
	}
	return sqlite3_total_changes(run->db) - before;
}

static void run_phase(struct run *run, size_t index)
{
	const struct workload_phase *phase = &run->workload->phases[index];
	int64_t count = workload_transactions(run->options, index);
	struct record *record = &run->record;
	struct statement sql;

	/* Read before the phase begins, so that its time is in no phase. */
	if (run->workload->phase_input != NULL)
		run->inputs[index] = run->workload->phase_input(run->db);
	generator_begin_phase(&run->generator, index, run->inputs[index]);
	record_phase_begin(record, phase->name);
	for (int64_t i = 0; i < count; i++) {
		size_t number = record->transaction_count++;
		struct transaction *transaction = &record->transactions[number];

		transaction->phase = (uint32_t)index;
		generator_next(&run->generator, &sql);
		commitpath_tx_begin(number, phase->name);
		transaction->begin_ns = clock_now();
		transaction->changes = execute(run, &sql, number, phase);
		transaction->end_ns = clock_now();
		commitpath_tx_end(number, phase->name);
		if (run->options->checkpoint_every > 0 &&
		    (int64_t)(number + 1) % run->options->checkpoint_every == 0 && sql.length > 0)
			database_checkpoint(run->db);
	}
	record_phase_end(record, (uint64_t)count);
	stat_snapshot("end-", phase->name);
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
	if (options->vfs_log)
		vfs_shim_register(transactions);
	run->db = database_open(options->database, SQLITE_OPEN_READWRITE);
	settings_apply(run->db, options);
	record_open(&run->record, transactions);
	generator_open(&run->generator, run->workload, options);

	record_phase_begin(&run->record, "warm");
	run->findings.rows_before = run->workload->warm(run->db, options);
	record_phase_end(&run->record, 0);
	settings_read_others(run->db);
	/* Keeps the program's pages in memory, where it is allowed to. Only
	 * those of now: with MCL_FUTURE, SQLite's allocations would fail at
	 * the limit of a user that is not root. */
	(void)mlockall(MCL_CURRENT);
	stat_settle(run->folder);
}

static void measure(struct run *run)
{
	stat_snapshot("begin", NULL);
	if (run->options->vfs_log)
		vfs_shim_begin();
	/* For the host, which cannot see the board's clock. */
	output_say(run->options->announce, "driver: the timed region begins");
	run->findings.monotonic_ns = clock_now();
	run->findings.realtime_ns = clock_read(CLOCK_REALTIME);
	if (run->options->start_on_second)
		clock_wait_whole_second();
	for (size_t i = 0; i < run->phase_count; i++)
		run_phase(run, run->phases[i]);

	/* Between the phases: in the timed region, which closing the database
	 * ends, but in no phase. Six pragmas and three file sizes, no I/O. */
	settings_check(run->db, run->options);
	config_file_sizes(run->options->database, &run->findings.before_close);

	record_phase_begin(&run->record, "close");
	database_checkpoint(run->db);
	database_close(run->db);
	record_phase_end(&run->record, 0);
	stat_snapshot("end-", "close");
	output_say(run->options->announce, "driver: the timed region ends");

	/* ext4's syncfs flushes even when nothing is dirty; a workload that did
	 * nothing must not be charged for that. */
	record_phase_begin(&run->record, "drain");
	stat_settle(run->executed ? run->folder : NULL);
	record_phase_end(&run->record, 0);
	if (run->options->vfs_log)
		vfs_shim_end();
	stat_snapshot("end", NULL);
}

/* Makes every statement again, from the inputs of the measured pass. */
static void hash_statements(struct run *run)
{
	struct statement sql;
	struct sha256 hash;

	sha256_begin(&hash);
	for (size_t p = 0; p < run->phase_count; p++) {
		size_t phase = run->phases[p];
		int64_t count = workload_transactions(run->options, phase);

		generator_begin_phase(&run->generator, phase, run->inputs[phase]);
		for (int64_t i = 0; i < count; i++) {
			generator_next(&run->generator, &sql);
			if (sql.length == 0)
				continue;
			sha256_add(&hash, sql.text, sql.length);
			sha256_add(&hash, "\n", 1);
			run->findings.sql_bytes += (int64_t)sql.value_bytes;
		}
	}
	sha256_end(&hash, run->findings.sql_sha256);
}

/* Counts the rows again; they must be what the transactions changed. */
static void count_rows(struct run *run)
{
	int64_t expected = run->findings.rows_before;
	sqlite3 *db;

	for (size_t i = 0; i < run->record.transaction_count; i++) {
		const struct transaction *t = &run->record.transactions[i];

		switch (run->workload->phases[t->phase].effect) {
		case ROWS_ADDED:
			expected += t->changes;
			break;
		case ROWS_REMOVED:
			expected -= t->changes;
			break;
		case ROWS_ALL_GONE:
			expected = 0;
			break;
		case ROWS_SAME:
			break;
		}
	}
	/* Not read-only: such a connection leaves a -wal and a -shm behind. */
	db = database_open(run->options->database, SQLITE_OPEN_READWRITE);
	/* Nothing is measured any more: mapped, pages need no copying. */
	database_run(db, "PRAGMA mmap_size=2147418112"); /* SQLite's largest */
	run->findings.rows_after = run->workload->count(db);
	database_close(db);
	if (run->findings.rows_after != expected)
		fail("the table has %" PRId64 " rows, the transactions leave %" PRId64,
		     run->findings.rows_after, expected);
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
	workload_check_value_size(options);
	run.phase_count = workload_select(options, run.phases);
	prepare(&run);
	measure(&run);

	config_file_sizes(options->database, &run.findings.after_close);
	hash_statements(&run);
	count_rows(&run);
	record_write(&run.record, run.workload, options->output_dir);
	stat_write(options->output_dir);
	if (options->vfs_log)
		vfs_calls_write(options->output_dir);
	config_write(options, &run.findings);
	print_summary(&run);
	stat_close();
	generator_close(&run.generator);
	record_close(&run.record);
	vfs_calls_close();
}

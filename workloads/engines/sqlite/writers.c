/* For --writers 2: a thread with a connection of its own commits to the same database as the
 * driver; counts each one's SQLITE_BUSY and waits for the lock, and writes commits.csv. The thread
 * commits transactions of a row each at the same pace, at most as many as the driver, and stops
 * when the driver does.
 *
 * Both begin with BEGIN IMMEDIATE. A call that returns SQLITE_BUSY is made again after a
 * millisecond, until it succeeds: SQLite has then waited for busy_timeout already. */
#include "writers.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "clock.h"
#include "output.h"
#include "settings.h"
#include "sql.h"

enum { RETRY_NS = 1000000 };

/* A transaction of a writer, by CLOCK_MONOTONIC. Only one writer has the lock, so the order of
 * locked_ns is that of the commits. */
struct commit {
	uint64_t locked_ns; /* BEGIN IMMEDIATE had the lock */
	uint64_t end_ns;    /* COMMIT had returned */
};

/* Results of a writer. */
struct tally {
	struct commit *commits; /* of `transactions` */
	int64_t transactions;
	int64_t busy;	   /* times that SQLITE_BUSY was returned */
	uint64_t longest;  /* ns for which it waited for the lock of one transaction */
	uint64_t begin_ns; /* CLOCK_MONOTONIC; 0: it did nothing */
	uint64_t end_ns;
};

/* For config.json and commits.csv, which are written after the database is closed. */
static struct tally first, second;

struct writers {
	sqlite3 *db;
	sqlite3_stmt *insert;
	char *value;
	const struct options *options;
	int64_t count; /* of transactions */
	pthread_t thread;
	bool begun;
	atomic_bool ends;
	bool failed; /* with `error`; read after it has ended */
	struct error error;
};

static int64_t transactions_of_run(const struct options *options)
{
	size_t phases[MAX_WORKLOAD_PHASES], number = workload_select(options, phases);
	int64_t count = 0;

	for (size_t i = 0; i < number; i++)
		count += workload_transactions(options, phases[i]);
	return count;
}

/* Kept when the database is opened again. */
static bool make_room(struct tally *tally, int64_t count)
{
	if (tally->commits == NULL)
		tally->commits = calloc((size_t)count + 1, sizeof(*tally->commits));
	return tally->commits != NULL;
}

bool writers_open(struct database *database, struct error *error)
{
	struct writers *writers;

	if (database->options->settings[WRITERS] == 0)
		return true;
	if (database->options->file != NULL)
		return error_set(error, "--writers 2: transactions of --file may begin their own");
	if (database->options->vfs_log || database->options->written)
		return error_set(error, "--writers 2: calls of two threads are not logged");
	writers = calloc(1, sizeof(*writers));
	if (writers == NULL)
		return error_set(error, "no memory for the second writer");
	database->writers = writers;
	writers->options = database->options;
	writers->count = transactions_of_run(database->options);
	writers->value = malloc((size_t)database->options->value_size + 1);
	if (writers->value == NULL || !make_room(&first, writers->count) ||
	    !make_room(&second, writers->count))
		return error_set(error, "no memory for the second writer");
	memset(writers->value, 'x', (size_t)database->options->value_size);
	if (sqlite3_open_v2(database->path, &writers->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		return error_set(error, "opening %s for the second writer: %s", database->path,
				 writers->db != NULL ? sqlite3_errmsg(writers->db) : "no memory");
	if (!settings_apply(writers->db, database->options, error) ||
	    !sql_run(writers->db,
		     "CREATE TABLE IF NOT EXISTS " WRITERS_TABLE
		     "(id INTEGER PRIMARY KEY, value TEXT)",
		     error))
		return false;
	writers->insert =
		sql_prepare(writers->db, "INSERT INTO " WRITERS_TABLE "(value) VALUES(?)", error);
	if (writers->insert == NULL)
		return false;
	sqlite3_bind_text(writers->insert, 1, writers->value, (int)database->options->value_size,
			  SQLITE_STATIC);
	return true;
}

/* Runs a statement that needs the lock, until it has it. `waited`: whether all its time is the
 * wait, as that of BEGIN; of COMMIT it is the time until it was last refused. */
static bool lock(sqlite3 *db, const char *sql, bool waited, struct tally *tally,
		 struct error *error)
{
	uint64_t begin = clock_now(), end = begin;
	int result;

	while ((result = sqlite3_exec(db, sql, NULL, NULL, NULL)) != SQLITE_OK) {
		if ((result & 0xff) != SQLITE_BUSY)
			return sql_error(db, "execution", sql, error);
		tally->busy++;
		end = clock_now();
		clock_wait_until(end + RETRY_NS);
	}
	if (waited)
		end = clock_now();
	if (end - begin > tally->longest)
		tally->longest = end - begin;
	return true;
}

static bool begin(sqlite3 *db, struct tally *tally, struct error *error)
{
	if (tally->begin_ns == 0)
		tally->begin_ns = clock_now();
	if (!lock(db, "BEGIN IMMEDIATE", true, tally, error))
		return false;
	tally->commits[tally->transactions].locked_ns = clock_now();
	return true;
}

static bool end(sqlite3 *db, struct tally *tally, struct error *error)
{
	if (!lock(db, "COMMIT", false, tally, error))
		return false;
	tally->end_ns = clock_now();
	tally->commits[tally->transactions++].end_ns = tally->end_ns;
	return true;
}

static bool write_row(struct writers *writers)
{
	if (!begin(writers->db, &second, &writers->error))
		return false;
	if (sqlite3_step(writers->insert) != SQLITE_DONE)
		return sql_error(writers->db, "step", sqlite3_sql(writers->insert),
				 &writers->error);
	sqlite3_reset(writers->insert);
	return end(writers->db, &second, &writers->error);
}

static void *write_rows(void *argument)
{
	struct writers *writers = argument;
	uint64_t pace_ns = (uint64_t)writers->options->pace_ns, due = clock_now();

	/* By it what the thread writes is attributed (model/engines/sqlite.py, JOBS). */
	prctl(PR_SET_NAME, "writer");
	for (; second.transactions < writers->count && !writers->ends; due += pace_ns) {
		if (pace_ns > 0 && due > clock_now())
			clock_wait_until(due);
		if (!write_row(writers)) {
			writers->failed = true;
			break;
		}
	}
	return NULL;
}

/* Skips BEGIN and COMMIT of a batch: its transaction is begun and ended by writers_commit. */
static bool execute_inside(struct database *database, const char **text, size_t length,
			   struct outcome *outcome, struct error *error)
{
	static const char *const omitted[] = {"BEGIN;", "COMMIT;"};

	for (size_t i = 0; i < 2; i++)
		if (strncmp(*text, omitted[i], strlen(omitted[i])) == 0) {
			*text += strlen(omitted[i]);
			return true;
		}
	return sql_execute_one(database, text, length, outcome, error);
}

bool writers_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	struct writers *writers = database->writers;

	if (!writers->begun) {
		int result = pthread_create(&writers->thread, NULL, write_rows, writers);

		if (result != 0)
			return error_set(error, "no thread for the second writer: %s",
					 strerror(result));
		writers->begun = true;
	}
	return begin(database->db, &first, error) &&
	       sql_execute(database, execute_inside, outcome, error) &&
	       end(database->db, &first, error);
}

void writers_stop(struct database *database)
{
	struct writers *writers = database->writers;

	if (writers == NULL || !writers->begun)
		return;
	writers->begun = false;
	writers->ends = true;
	pthread_join(writers->thread, NULL);
}

bool writers_close(struct database *database, struct error *error)
{
	struct writers *writers = database->writers;
	bool failed;

	if (writers == NULL)
		return true;
	writers_stop(database);
	database->writers = NULL;
	failed = writers->failed;
	if (failed)
		error_set(error, "the second writer: %s", writers->error.text);
	sqlite3_finalize(writers->insert);
	sqlite3_close(writers->db);
	free(writers->value);
	free(writers);
	return !failed;
}

static void write_commits(FILE *file, int writer, const struct tally *tally)
{
	for (int64_t i = 0; i < tally->transactions; i++)
		fprintf(file, "%d,%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", writer, i,
			tally->commits[i].locked_ns, tally->commits[i].end_ns);
}

void writers_write(const char *directory)
{
	FILE *file;

	if (first.begin_ns == 0)
		return;
	file = output_open(directory, "commits.csv");
	fputs("writer,transaction,locked_ns,end_ns\n", file);
	write_commits(file, 1, &first);
	write_commits(file, 2, &second);
	output_commit(file);
}

static void write_tally(struct json *json, const char *key, const struct tally *tally)
{
	json_begin(json, key, '{');
	json_number(json, "transactions", tally->transactions);
	json_number(json, "busy", tally->busy);
	json_number(json, "longest_wait_ns", (int64_t)tally->longest);
	json_number(json, "ns", (int64_t)(tally->end_ns - tally->begin_ns));
	json_end(json, '}');
}

void writers_report(struct json *json)
{
	if (first.begin_ns == 0)
		return;
	json_begin(json, "writers", '{');
	write_tally(json, "first", &first);
	write_tally(json, "second", &second);
	json_end(json, '}');
}

/* Scenes of a statement log whose writes come to the medium in part. Each prints how many lives
 * there were; what went wrong also on stderr.
 *
 * hole [epoch]: of a log that is not synced at each commit any records may come to the medium, and
 * others not. Each set of those of a few transactions is tried, all of one size. What is there must
 * be the transactions before the first that lacks its record, and after another one and another
 * power cut that one as well, whether the log is synced then or not. With `epoch` a log that lost
 * its first record goes on in its epoch.
 *
 * stale: a call of a commit that is a checkpoint fails, each in turn, as the reset of the WAL that
 * it wrote; then power is cut at each call of an atomic checkpoint. What is acknowledged is there.
 *
 * unsynced: a process that is killed leaves what it wrote and did not sync to the next one, which
 * must not rely on it: power may be cut afterwards. A short life of a database is ended at each of
 * its calls, and again, by a power cut, at some of those of the next one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "state.h"

enum { RECORDS = 4, SETS = 1 << RECORDS, LENGTH = 4 };

static int64_t begins[RECORDS];

static void insert(struct ssl *ssl, int value)
{
	char sql[40];

	snprintf(sql, sizeof(sql), "INSERT INTO t VALUES(%d)", value);
	scene_run(ssl, sql);
}

/* What is in the table, a digit each. */
static void read_digits(struct ssl *ssl, char *text)
{
	sqlite3_stmt *row;

	check(sqlite3_prepare_v2(ssl_db(ssl), "SELECT x FROM t ORDER BY rowid", -1, &row, NULL) ==
		      SQLITE_OK,
	      "prepared");
	for (; sqlite3_step(row) == SQLITE_ROW; text++)
		*text = (char)('0' + sqlite3_column_int(row, 0));
	*text = '\0';
	sqlite3_finalize(row);
}

static void log_records_alone(void)
{
	struct error error;
	struct ssl *ssl = scene_open("a.db");

	scene_run(ssl, "CREATE TABLE t(x)");
	check(ssl_checkpoint(ssl, &error), "checkpoint");
	for (int i = 0; i < RECORDS; i++) {
		begins[i] = ssl->log.tail;
		insert(ssl, i + 1);
	}
	scene_crash(ssl, KEPT_ALL);
}

/* False: what is there is not what `set` leaves. */
static bool is_prefix(int set, enum ssl_synchronous then)
{
	char first[2 * RECORDS] = "", second[2 * RECORDS] = "", wanted[2 * RECORDS] = "1234";
	int whole = 0;
	struct ssl *ssl;
	bool is;

	disk_empty();
	options.synchronous = SSL_NORMAL;
	log_records_alone();
	for (int i = 0; i < RECORDS; i++)
		for (int at = 0; at < LENGTH && (set >> i & 1) == 0; at++)
			disk_edit(log_name, begins[i] + at, 0);
	while ((set >> whole & 1) != 0)
		whole++;
	wanted[whole] = '\0';
	options.synchronous = then;
	ssl = scene_open("a.db");
	read_digits(ssl, first);
	is = strcmp(first, wanted) == 0;
	insert(ssl, 9);
	scene_crash(ssl, KEPT_ALL);
	strcat(wanted, "9");
	ssl = scene_open("a.db");
	read_digits(ssl, second);
	scene_crash(ssl, KEPT_ALL);
	is &= strcmp(second, wanted) == 0;
	if (!is)
		fprintf(stderr, "set %d: there were %s, then %s\n", set, first, second);
	return is;
}

void hole(void)
{
	int bad = 0;

	options.log_size = 4096;
	if (scene_words[0] != NULL && strcmp(scene_words[0], "epoch") == 0)
		options.left_out = SSL_EPOCH_KEPT;
	for (int set = 0; set < SETS; set++)
		bad += !is_prefix(set, SSL_NORMAL) + !is_prefix(set, SSL_FULL);
	printf("{\"sets\": %d, \"bad\": %d}\n", 2 * SETS, bad);
}

enum { ROWS = 3, LATER = 48, LATER_STEP = 3, MOST_CALLS = 10000 };

static int64_t inserted; /* rows that are acknowledged */

static struct ssl *try_open(void)
{
	struct ssl *ssl;
	struct error error;

	if (ssl_open("a.db", flags, &options, &ssl, &error))
		return ssl;
	if (!disk_is_cut())
		fprintf(stderr, "%s\n", error.text);
	return NULL;
}

static void insert_rows(struct ssl *ssl, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		inserted += ssl_exec(ssl, "INSERT INTO t VALUES(1)") == SQLITE_OK;
}

static void end(struct ssl *ssl)
{
	struct error error;

	disk_cut_now();
	if (ssl != NULL)
		ssl_close(ssl, &error);
}

/* All that it does, or until it ends. */
static void live(void)
{
	struct error error;
	struct ssl *ssl = try_open();

	if (ssl != NULL && ssl_exec(ssl, "CREATE TABLE t(x)") == SQLITE_OK) {
		insert_rows(ssl, ROWS);
		ssl_checkpoint(ssl, &error);
		insert_rows(ssl, ROWS);
	}
	end(ssl);
}

static int64_t count_rows(struct ssl *ssl)
{
	sqlite3_stmt *row;
	int64_t found = 0;

	disk_pause(true);
	if (sqlite3_prepare_v2(ssl_db(ssl), "SELECT count(*) FROM t", -1, &row, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		found = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	disk_pause(false);
	return found;
}

/* False: something is lost, or it does not open. */
static bool keeps_all(int64_t killed, int64_t cut)
{
	struct ssl *ssl;
	bool is;

	disk_empty();
	inserted = 0;
	disk_cut_after(killed);
	live();
	disk_killed();
	disk_cut_after(cut);
	ssl = try_open();
	/* without a cut in it what follows is acknowledged, too */
	if (ssl != NULL && count_rows(ssl) > 0) {
		inserted = count_rows(ssl);
		insert_rows(ssl, 1);
	}
	if (ssl == NULL && !disk_is_cut())
		return false;
	end(ssl);
	disk_power(1, KEPT_NONE);
	ssl = try_open();
	is = ssl != NULL && count_rows(ssl) >= inserted;
	end(ssl);
	return is;
}

void unsynced(void)
{
	int64_t lives = 0, calls;

	options.log_size = 4096;
	disk_empty();
	live();
	calls = disk_calls();
	for (int64_t killed = 1; killed <= calls && calls < MOST_CALLS; killed++)
		for (int64_t cut = 0; cut <= LATER; cut += LATER_STEP, lives++)
			if (!keeps_all(killed, cut)) {
				fprintf(stderr, "killed at %lld, cut at %lld: not all is there\n",
					(long long)killed, (long long)cut);
				exit(1);
			}
	printf("{\"calls\": %lld, \"lives\": %lld}\n", (long long)calls, (long long)lives);
}

/* Returns whether the power was cut before the checkpoint was over. */
static bool cut_atomic(int64_t fails, int64_t cut, bool *failed)
{
	struct target ours = {0};
	struct error error;
	bool is_cut;

	disk_empty();
	open_target(&ours, true);
	disk_fail(FAULT_EIO, fails);
	ssl_exec(ours.ssl, "INSERT INTO w VALUES('a checkpoint', total_changes())");
	*failed = disk_failed();
	disk_fail(FAULT_NONE, 0);
	scene_run(ours.ssl, "INSERT INTO t(k) VALUES(7)");
	acknowledged = load_hash(ours.db, false);
	disk_cut_after(cut);
	ssl_checkpoint(ours.ssl, &error);
	is_cut = disk_is_cut();
	scene_crash(ours.ssl, KEPT_NONE);
	open_target(&ours, false);
	check(load_hash(ours.db, false) == acknowledged, "all that was acknowledged is there");
	scene_close(ours.ssl);
	return is_cut;
}

void stale(void)
{
	int64_t lives = 0;
	bool failed = true;

	options.atomic = true;
	for (int64_t fails = 1; failed; fails++)
		for (int64_t cut = 1; cut_atomic(fails, cut, &failed); cut++)
			lives++;
	printf("{\"lives\": %lld}\n", (long long)lives);
}

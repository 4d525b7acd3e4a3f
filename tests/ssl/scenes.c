/* Things that happen to a database with a live log, each a scene: `scenes NAME`. Prints what is
 * said of it; exit status 1 if it did not go as it must. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "disk.h"
#include "load.h"

static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
static struct ssl_options options;
static uint64_t acknowledged;

static void check(bool good, const char *what)
{
	if (good)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

/* A database whose log has transactions, and power that was cut. */
static void make_live(const char *name)
{
	struct target ours = {0};
	struct error error;

	check(ssl_open(name, flags, &options, &ours.ssl, &error), "opened");
	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "created");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	for (int64_t i = 0; i < 12; i++)
		check(load_transaction(&ours, MIX_PLAIN, 1, i) == SQLITE_OK, "transaction");
	acknowledged = load_hash(ours.db, false);
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, KEPT_NONE);
}

static void must_refuse(const char *name)
{
	struct ssl *ssl;
	struct error error;

	check(!ssl_open(name, flags, &options, &ssl, &error), "refused");
	check(strchr(error.text, '\n') == NULL, "one line");
	puts(error.text);
}

static void must_recover(const char *name)
{
	struct ssl *ssl;
	struct error error;

	if (!ssl_open(name, flags, &options, &ssl, &error))
		check(false, error.text);
	check(ssl_stats(ssl).replayed > 0, "replayed");
	check(load_hash(ssl_db(ssl), false) == acknowledged, "all that was acknowledged is there");
	check(ssl_close(ssl, &error), "closed");
}

/* A recovery in which a call fails, each in turn, leaves all to the next one. */
static void interrupted(void)
{
	struct ssl *ssl;
	struct error error;
	bool opened = false, failed = true;

	for (int64_t call = 1; !opened || failed; call++) {
		disk_empty();
		make_live("a.db");
		disk_fail(FAULT_EIO, call);
		opened = ssl_open("a.db", flags, &options, &ssl, &error);
		failed = disk_failed();
		disk_fail(FAULT_NONE, 0);
		if (!opened && !ssl_open("a.db", flags, &options, &ssl, &error))
			check(false, error.text);
		check(load_hash(ssl_db(ssl), false) == acknowledged && ssl_close(ssl, &error),
		      "all that was acknowledged is there");
	}
}

static void print_inspected(const char *name)
{
	struct error error;

	check(ssl_inspect(name, stdout, &error), "inspected");
}

static void unaware(void)
{
	sqlite3 *db;

	make_live("a.db");
	check(sqlite3_open_v2("a.db", &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK, "opened");
	check(sqlite3_exec(db, "INSERT INTO w VALUES('x', 1)", NULL, NULL, NULL) == SQLITE_NOTADB,
	      "not opened");
	puts(sqlite3_errmsg(db));
	sqlite3_close(db);
	must_recover("a.db");
	check(sqlite3_open_v2("a.db", &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK, "opened");
	check(load_hash(db, false) == acknowledged, "closed, it is any SQLite's");
	sqlite3_close(db);
}

static void attached(void)
{
	static const char *const vfs[] = {"disk", "ssl"};
	struct target other = {0};
	struct error error;

	make_live("a.db");
	for (int i = 0; i < 2; i++) {
		sqlite3 *db;

		sqlite3_open_v2("b.db", &db, flags, vfs[i]);
		check(sqlite3_exec(db, "ATTACH 'a.db' AS a; SELECT count(*) FROM a.t", NULL, NULL,
				   NULL) != SQLITE_OK,
		      "not attached");
		puts(sqlite3_errmsg(db));
		sqlite3_close(db);
	}
	check(ssl_open("b.db", flags, &options, &other.ssl, &error), "opened");
	check(ssl_exec(other.ssl, "ATTACH 'a.db' AS a") != SQLITE_OK, "not attached");
	puts(sqlite3_errmsg(ssl_db(other.ssl)));
	check(ssl_close(other.ssl, &error), "closed");
	must_recover("a.db");
}

static void recreated(void)
{
	sqlite3 *db;

	make_live("a.db");
	disk_remove("a.db");
	sqlite3_open_v2("a.db", &db, flags, "disk");
	check(sqlite3_exec(db, "CREATE TABLE other(x)", NULL, NULL, NULL) == SQLITE_OK,
	      "made anew");
	sqlite3_close(db);
	must_refuse("a.db");
	must_refuse("a.db");
}

static void of_another(void)
{
	make_live("b.db");
	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	disk_copy("b.db-sla", "a.db-sla");
	must_refuse("a.db");
	disk_copy("kept", "a.db-sla");
	must_recover("a.db");
}

static void missing(void)
{
	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	disk_remove("a.db-sla");
	must_refuse("a.db");
	disk_copy("kept", "a.db-sla");
	must_recover("a.db");
}

/* The log of before a checkpoint. */
static void older(void)
{
	struct target ours = {0};
	struct error error;

	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, KEPT_NONE);
	disk_copy("kept", "a.db-sla");
	must_refuse("a.db");
}

/* Changes a number of both headers, and makes them whole again. */
static void change_headers(int at, uint8_t byte)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("disk");
	sqlite3_file *file = malloc((size_t)vfs->szOsFile);

	vfs->xOpen(vfs, "a.db-sla", file, SQLITE_OPEN_READWRITE, NULL);
	for (int slot = 0; slot < 2; slot++) {
		uint8_t header[64];

		file->pMethods->xRead(file, header, sizeof(header), slot * 512);
		header[at] = byte;
		put32(header + 60, crc32c(0, header, 60));
		file->pMethods->xWrite(file, header, sizeof(header), slot * 512);
	}
	file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	file->pMethods->xClose(file);
	free(file);
}

static void changed(int at, uint8_t byte)
{
	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	change_headers(at, byte);
	must_refuse("a.db");
	disk_copy("kept", "a.db-sla");
	must_recover("a.db");
}

static void version(void)
{
	changed(14, 9);
}

static void release(void)
{
	changed(20, 9);
}

static void epoch(void)
{
	changed(32, 0);
}

static void sized(void)
{
	changed(50, 7);
}

static void truncated(void)
{
	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	disk_cut_file("a.db-sla", 5000);
	must_refuse("a.db");
	disk_cut_file("a.db-sla", 100);
	must_refuse("a.db");
	disk_copy("kept", "a.db-sla");
	must_recover("a.db");
}

static void damaged(void)
{
	make_live("a.db");
	disk_copy("a.db-sla", "kept");
	disk_edit("a.db-sla", 30, 1);
	disk_edit("a.db-sla", 512 + 30, 1);
	must_refuse("a.db");
	disk_copy("kept", "a.db-sla");
	must_recover("a.db");
}

static void knobs(void)
{
	for (int i = 0; i < 5; i++) {
		struct ssl_options wrong = options;

		(i == 0	  ? &wrong.log_size
		 : i == 1 ? &wrong.full
		 : i == 2 ? &wrong.dirty
		 : i == 3 ? &wrong.line
			  : &wrong.write_ns)[0] = i == 3 ? 24 : -1;
		{
			struct ssl_options kept = options;

			options = wrong;
			must_refuse("a.db");
			options = kept;
		}
		check(!disk_there("a.db"), "nothing was made");
	}
}

static void twice(void)
{
	struct ssl *first;
	struct error error;

	check(ssl_open("a.db", flags, &options, &first, &error), "opened");
	must_refuse("a.db");
	check(ssl_close(first, &error), "closed");
	check(!disk_there("a.db-sla") && !disk_there("a.db-wal"), "nothing is left beside it");
}

static void unfinished(void)
{
	struct ssl *ssl;
	struct ssl_stmt *statement;
	struct error error;

	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_prepare(ssl, "SELECT 1", -1, &statement, NULL) == SQLITE_OK, "prepared");
	check(!ssl_close(ssl, &error), "not closed");
	puts(error.text);
	ssl_finalize(statement);
	check(ssl_close(ssl, &error), "closed");
}

static void pragmas(void)
{
	static const char *const texts[] = {"PRAGMA synchronous=off", "PRAGMA journal_mode=delete",
					    "PRAGMA locking_mode=normal",
					    "PRAGMA wal_autocheckpoint=10"};
	struct ssl *ssl;
	struct error error;

	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	for (int i = 0; i < 4; i++) {
		check(ssl_exec(ssl, texts[i]) == SQLITE_ERROR, "refused");
		puts(sqlite3_errmsg(ssl_db(ssl)));
	}
	check(ssl_exec(ssl, "PRAGMA synchronous") == SQLITE_OK, "read");
	check(ssl_close(ssl, &error), "closed");
}

static void inspected(void)
{
	make_live("a.db");
	print_inspected("a.db");
	must_recover("a.db");
	print_inspected("a.db");
}

/* A transaction that is larger than the log, and a log that fills. */
static void sizes(void)
{
	struct ssl *ssl;
	struct ssl_stats stats;
	struct error error;

	options.log_size = 4096;
	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_exec(ssl, "CREATE TABLE t(x)") == SQLITE_OK, "made");
	for (int i = 0; i < 200; i++)
		check(ssl_exec(ssl, "INSERT INTO t VALUES(zeroblob(10))") == SQLITE_OK, "inserted");
	check(ssl_exec(ssl, "BEGIN") == SQLITE_OK, "begun");
	for (int i = 0; i < 200; i++)
		check(ssl_exec(ssl, "INSERT INTO t VALUES(hex(zeroblob(90)))") == SQLITE_OK,
		      "inserted");
	check(ssl_exec(ssl, "COMMIT") == SQLITE_OK, "committed");
	stats = ssl_stats(ssl);
	check(stats.checkpoints[SSL_LOG_FULL] > 3 && stats.checkpoints[SSL_TOO_LARGE] == 1,
	      "checkpoints");
	check(stats.transactions == 202 && stats.logged == 200, "transactions");
	check(ssl_close(ssl, &error), "closed");
}

/* Beside the largest rowid the next one is random. */
static void largest(void)
{
	struct target ours = {0};
	struct error error;
	uint64_t before;

	for (int round = 0; round < 2; round++) {
		check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
		ours.db = ssl_db(ours.ssl);
		if (round == 0)
			check(load_create(&ours) == SQLITE_OK &&
				      ssl_exec(ours.ssl,
					       "INSERT INTO t(id) VALUES(9223372036854775807)") ==
					      SQLITE_OK,
			      "made");
		check(ssl_exec(ours.ssl, "INSERT INTO t(k) VALUES(3)") == SQLITE_OK, "inserted");
		check(ssl_stats(ours.ssl).checkpoints[SSL_NOT_REPEATABLE] > 0, "a checkpoint");
		before = load_hash(ours.db, false);
		disk_cut_now();
		ssl_close(ours.ssl, &error);
		disk_power(1, KEPT_NONE);
	}
	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	check(load_hash(ssl_db(ours.ssl), false) == before, "the same");
	check(ssl_close(ours.ssl, &error), "closed");
}

static int allow(void *argument, int action, const char *first, const char *second,
		 const char *database, const char *trigger)
{
	(void)argument;
	(void)action;
	(void)first;
	(void)second;
	(void)database;
	(void)trigger;
	return SQLITE_OK;
}

/* Whoever takes the authorizer away takes the records away. */
static void authorizer(void)
{
	struct ssl *ssl;
	struct error error;

	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_exec(ssl, "CREATE TABLE t(x); INSERT INTO t VALUES(1)") == SQLITE_OK, "made");
	check(ssl_stats(ssl).logged == 1, "logged");
	sqlite3_set_authorizer(ssl_db(ssl), allow, NULL);
	check(ssl_exec(ssl, "INSERT INTO t VALUES(total_changes())") == SQLITE_OK, "inserted");
	check(ssl_stats(ssl).logged == 1, "not logged");
	check(ssl_stats(ssl).checkpoints[SSL_NOT_CAPTURED] == 1, "a checkpoint");
	check(ssl_close(ssl, &error), "closed");
}

/* A trigger that is the connection's alone changes rows that a recovery would not. */
static void temporary(void)
{
	struct target ours = {0};
	struct error error;
	uint64_t before;

	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "made");
	check(ssl_exec(ours.ssl, "CREATE TEMP TRIGGER more AFTER INSERT ON w BEGIN"
				 " INSERT INTO t(id, r) VALUES(777, 0); END;"
				 "INSERT INTO w VALUES('x', 1)") == SQLITE_OK,
	      "inserted");
	check(ssl_stats(ours.ssl).checkpoints[SSL_OTHER_DATABASE] == 1, "a checkpoint");
	before = load_hash(ours.db, false);
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, KEPT_NONE);
	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	check(load_hash(ssl_db(ours.ssl), false) == before, "the same");
	check(ssl_close(ours.ssl, &error), "closed");
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} scenes[] = {
		{"unaware", unaware},	    {"attached", attached},
		{"recreated", recreated},   {"another", of_another},
		{"missing", missing},	    {"older", older},
		{"version", version},	    {"release", release},
		{"epoch", epoch},	    {"size", sized},
		{"truncated", truncated},   {"damaged", damaged},
		{"knobs", knobs},	    {"twice", twice},
		{"unfinished", unfinished}, {"interrupted", interrupted},
		{"pragmas", pragmas},	    {"inspected", inspected},
		{"sizes", sizes},	    {"largest", largest},
		{"authorizer", authorizer}, {"temporary", temporary},
	};

	ssl_defaults(&options);
	disk_register();
	for (size_t i = 0; count == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (strcmp(scenes[i].name, words[1]) == 0) {
			scenes[i].play();
			return 0;
		}
	return 2;
}

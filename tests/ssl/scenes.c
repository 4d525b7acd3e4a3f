/* Things that happen to a database with a live log, each a scene: `scenes NAME`. Prints what is
 * said of it; exit status 1 if it did not go as it must. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "load.h"
#include "state.h"

static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
static struct ssl_options options;
static uint64_t acknowledged;
static char log_name[16], other_log[16];

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

/* A log for which the disk has no room is not left behind, and what was full is told. */
static void crowded(void)
{
	struct ssl *ssl;
	struct error error;
	int full = 0;

	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_exec(ssl, "CREATE TABLE t(x)") == SQLITE_OK, "made");
	check(ssl_close(ssl, &error), "closed");
	for (int64_t call = 1; call < 100; call++) {
		bool opened;

		disk_fail(FAULT_FULL, call);
		opened = ssl_open("a.db", flags, &options, &ssl, &error);
		disk_fail(FAULT_NONE, 0);
		if (opened) {
			check(ssl_close(ssl, &error), "closed");
		} else if (strstr(error.text, log_name) != NULL &&
			   strstr(error.text, "full") != NULL) {
			check(!disk_there(log_name), "there is no log");
			full++;
		}
	}
	check(full > 5, "there was no room for the log");
}

#ifndef PAGE_LOG
static void print_inspected(const char *name)
{
	struct error error;

	check(ssl_inspect(name, stdout, &error), "inspected");
}
#endif

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
	const char *const vfs[] = {"disk", log_kind.vfs};
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
	disk_copy(log_name, "kept");
	disk_copy(other_log, log_name);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static void missing(void)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_remove(log_name);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

/* The log of before two checkpoints; what the one before the last has of it is not lost. */
static void older(void)
{
	struct target ours = {0};
	struct error error;

	make_live("a.db");
	disk_copy(log_name, "kept");
	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	check(ssl_exec(ours.ssl, "INSERT INTO w VALUES('older', 1)") == SQLITE_OK, "inserted");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, KEPT_NONE);
	disk_copy("kept", log_name);
	must_refuse("a.db");
}

/* Changes a number of both headers, and makes them whole again. */
static void change_headers(int at, uint8_t byte)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("disk");
	sqlite3_file *file = malloc((size_t)vfs->szOsFile);

	vfs->xOpen(vfs, log_name, file, SQLITE_OPEN_READWRITE, NULL);
	for (int slot = 0; slot < 2; slot++) {
		uint8_t header[LOG_HEADER];
		int check = log_kind.header - 4;

		file->pMethods->xRead(file, header, log_kind.header, slot * 512);
		header[at] = byte;
		put32(header + check, crc32c(0, header, (size_t)check));
		file->pMethods->xWrite(file, header, log_kind.header, slot * 512);
	}
	file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	file->pMethods->xClose(file);
	free(file);
}

static void changed(int at, uint8_t byte)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	change_headers(at, byte);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static void version(void)
{
	changed(14, 9);
}

#ifndef PAGE_LOG
static void release(void)
{
	changed(20, 9);
}
#endif

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
	disk_copy(log_name, "kept");
	disk_cut_file(log_name, 5000);
	must_refuse("a.db");
	disk_cut_file(log_name, 100);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static void damaged(void)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_edit(log_name, 30, 1);
	disk_edit(log_name, 512 + 30, 1);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

/* A knob that is out of range is refused, and nothing is made. */
static void refuse_knob(int64_t *knob, int64_t wrong)
{
	int64_t kept = *knob;

	*knob = wrong;
	must_refuse("a.db");
	*knob = kept;
	check(!disk_there("a.db"), "nothing was made");
}

static void knobs(void)
{
	refuse_knob(&options.log_size, -1);
	refuse_knob(&options.full, -1);
	refuse_knob(&options.dirty, -1);
	refuse_knob(&options.line, 24);
	refuse_knob(&options.write_ns, -1);
	options.synchronous = SSL_NORMAL;
#ifdef PAGE_LOG
	must_refuse("a.db");
	options.synchronous = SSL_FULL;
	refuse_knob(&options.sector, 500);
	options.log_size = 4096;
	refuse_knob(&options.sector, 8192);
#else
	options.medium = SSL_PCM;
	must_refuse("a.db");
#endif
}

static void twice(void)
{
	struct ssl *first;
	struct error error;

	check(ssl_open("a.db", flags, &options, &first, &error), "opened");
	must_refuse("a.db");
	check(ssl_close(first, &error), "closed");
	check(!disk_there(log_name) && !disk_there("a.db-wal"), "nothing is left beside it");
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
	static const char *const same[] = {
		"PRAGMA synchronous=FULL",	 "PRAGMA synchronous=2",
		"PRAGMA main.journal_mode=WAL",	 "PRAGMA journal_mode=wal",
		"PRAGMA locking_mode=exclusive", "PRAGMA wal_autocheckpoint=0"};
	struct ssl *ssl;
	struct error error;

	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	for (int i = 0; i < 4; i++) {
		check(ssl_exec(ssl, texts[i]) == SQLITE_ERROR, "refused");
		puts(sqlite3_errmsg(ssl_db(ssl)));
	}
	check(ssl_exec(ssl, "PRAGMA synchronous") == SQLITE_OK, "read");
	/* to what it is */
	for (int i = 0; i < 6; i++)
		check(ssl_exec(ssl, same[i]) == SQLITE_OK, same[i]);
	check(ssl_exec(ssl, "CREATE TABLE t(x)") == SQLITE_OK, "made");
	check(ssl_exec(ssl, "INSERT INTO t VALUES(1)") == SQLITE_OK, "logged");
	check(ssl_close(ssl, &error), "closed");
}

#ifndef PAGE_LOG
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

/* Power is cut, and what was there is there again, with transactions that were executed again. */
static void must_repeat(struct target *ours, int64_t replayed)
{
	struct error error;
	uint64_t before = load_hash(ours->db, false);

	disk_cut_now();
	ssl_close(ours->ssl, &error);
	disk_power(1, KEPT_NONE);
	if (!ssl_open("a.db", flags, &options, &ours->ssl, &error))
		check(false, error.text);
	check(ssl_stats(ours->ssl).replayed == replayed, "executed again");
	check(load_hash(ssl_db(ours->ssl), false) == before, "the same");
	check(ssl_close(ours->ssl, &error), "closed");
}

/* last_insert_rowid() of what a record does not have: another transaction, one that was rolled
 * back, and the largest and smallest that there are. */
static void rowid(void)
{
	static const char *const texts[] = {
		"BEGIN; INSERT INTO t(id, r) VALUES(4711, 0); ROLLBACK",
		"INSERT INTO w VALUES('rolled back', last_insert_rowid())",
		"UPDATE t SET k=last_insert_rowid() WHERE id=1",
		"INSERT INTO t(id, r) VALUES(-9223372036854775807 - 1, 0)",
		"INSERT INTO w VALUES('smallest', last_insert_rowid())",
		"UPDATE t SET k=1 WHERE id=1",
		"UPDATE t SET k=last_insert_rowid() WHERE id=2",
	};
	struct target ours = {0};
	struct error error;

	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "made");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(ssl_exec(ours.ssl, texts[i]) == SQLITE_OK, texts[i]);
	must_repeat(&ours, 6);
}

/* A blob that is open keeps the transaction of a statement without BEGIN open, and one of another
 * database keeps none. */
static void beside(void)
{
	struct target ours = {0};
	struct error error;
	sqlite3_blob *blob;

	check(ssl_open("a.db", flags, &options, &ours.ssl, &error), "opened");
	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "made");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	check(sqlite3_blob_open(ours.db, "main", "t", "v", 40, 1, &blob) == SQLITE_OK, "a blob");
	check(ssl_exec(ours.ssl, "UPDATE w SET value=1; INSERT INTO w VALUES('first', 1);"
				 "INSERT INTO w VALUES('second', 2)") == SQLITE_OK,
	      "inserted");
	check(sqlite3_blob_close(blob) == SQLITE_OK, "committed");
	check(ssl_exec(ours.ssl, "CREATE TEMP TABLE own(v); INSERT INTO own VALUES(zeroblob(9))") ==
		      SQLITE_OK,
	      "a table of the connection's");
	check(sqlite3_blob_open(ours.db, "temp", "own", "v", 1, 1, &blob) == SQLITE_OK, "a blob");
	check(ssl_exec(ours.ssl, "BEGIN; INSERT INTO w VALUES('third', 3); ROLLBACK;"
				 "INSERT INTO w VALUES('fourth', 4)") == SQLITE_OK,
	      "inserted");
	sqlite3_blob_close(blob);
	must_repeat(&ours, 2);
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
#else
static int64_t checkpoints_of(struct ssl *ssl, enum ssl_reason reason)
{
	return ssl_stats(ssl).checkpoints[reason];
}

/* Sectors that fill, records that are larger than one, a log that fills, and a database that
 * shrinks. */
static void sectors(void)
{
	struct ssl *ssl;
	struct error error;

	options.log_size = 8192;
	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_exec(ssl, "CREATE TABLE t(x); CREATE TABLE u(x)") == SQLITE_OK, "made");
	for (int i = 0; i < 40; i++)
		check(ssl_exec(ssl, "INSERT INTO t VALUES(zeroblob(10))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_FULL) > 0, "merged");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "no record is larger than a sector");
	check(ssl_exec(ssl, "INSERT INTO u VALUES(zeroblob(900))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "zeros are none");
	check(ssl_exec(ssl, "INSERT INTO u VALUES(randomblob(900))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 1, "merged");
	check(checkpoints_of(ssl, SSL_LOG_FULL) == 0, "the log has room");
	for (int i = 0; i < 40; i++)
		check(ssl_exec(ssl, "CREATE TABLE IF NOT EXISTS more(x);"
				    "INSERT INTO more VALUES(randomblob(3000))") == SQLITE_OK,
		      "inserted");
	check(ssl_exec(ssl, "UPDATE more SET x=zeroblob(2999)||'a' WHERE rowid%2") == SQLITE_OK,
	      "updated");
	check(ssl_exec(ssl, "DELETE FROM more; VACUUM") == SQLITE_OK, "shrunk");
	check(checkpoints_of(ssl, SSL_SHRUNK) == 1, "a checkpoint");
	check(ssl_close(ssl, &error), "closed");
	check(!disk_there("a.db-ppl") && !disk_there("a.db-merge"), "nothing is left beside it");
}
#endif

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} scenes[] = {
		{"unaware", unaware},	  {"attached", attached},     {"recreated", recreated},
		{"another", of_another},  {"missing", missing},	      {"older", older},
		{"version", version},	  {"epoch", epoch},	      {"size", sized},
		{"truncated", truncated}, {"damaged", damaged},	      {"knobs", knobs},
		{"twice", twice},	  {"unfinished", unfinished}, {"interrupted", interrupted},
		{"pragmas", pragmas},	  {"crowded", crowded},
#ifdef PAGE_LOG
		{"sectors", sectors},
#else
		{"release", release},	  {"inspected", inspected},   {"sizes", sizes},
		{"largest", largest},	  {"authorizer", authorizer}, {"temporary", temporary},
		{"rowid", rowid},	  {"beside", beside},
#endif
	};

	ssl_defaults(&options);
	snprintf(log_name, sizeof(log_name), "a.db%s", log_kind.suffix);
	snprintf(other_log, sizeof(other_log), "b.db%s", log_kind.suffix);
	disk_register();
	for (size_t i = 0; count == 2 && i < sizeof(scenes) / sizeof(scenes[0]); i++)
		if (strcmp(scenes[i].name, words[1]) == 0) {
			scenes[i].play();
			return 0;
		}
	return 2;
}

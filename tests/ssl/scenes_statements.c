/* Scenes that only a statement log has (engine ssl): what is logged, what is a checkpoint, and
 * ssl_inspect. */
#include <stdio.h>
#include <string.h>

#include "scene.h"
#include "state.h"

static void print_inspected(const char *name)
{
	struct error error;

	check(ssl_inspect(name, stdout, &error), "inspected");
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

	options.log_size = 4096;
	ssl = scene_open("a.db");
	scene_run(ssl, "CREATE TABLE t(x)");
	for (int i = 0; i < 200; i++)
		scene_run(ssl, "INSERT INTO t VALUES(zeroblob(10))");
	scene_run(ssl, "BEGIN");
	for (int i = 0; i < 200; i++)
		scene_run(ssl, "INSERT INTO t VALUES(hex(zeroblob(90)))");
	scene_run(ssl, "COMMIT");
	stats = ssl_stats(ssl);
	check(stats.checkpoints[SSL_LOG_FULL] > 3 && stats.checkpoints[SSL_TOO_LARGE] == 1,
	      "checkpoints");
	check(stats.transactions == 202 && stats.logged == 200, "transactions");
	scene_close(ssl);
}

/* Power is cut, and what was there is there again, with transactions that were executed again. */
static void must_repeat(struct target *ours, int64_t replayed)
{
	uint64_t before = load_hash(ours->db, false);

	scene_crash(ours->ssl, KEPT_NONE);
	ours->ssl = scene_open("a.db");
	check(ssl_stats(ours->ssl).replayed == replayed, "executed again");
	check(load_hash(ssl_db(ours->ssl), false) == before, "the same");
	scene_close(ours->ssl);
}

/* Beside the largest rowid the next one is random. */
static void largest(void)
{
	struct target ours = {0};

	for (int round = 0; round < 2; round++) {
		open_target(&ours, false);
		if (round == 0)
			check(load_create(&ours) == SQLITE_OK &&
				      ssl_exec(ours.ssl,
					       "INSERT INTO t(id) VALUES(9223372036854775807)") ==
					      SQLITE_OK,
			      "made");
		scene_run(ours.ssl, "INSERT INTO t(k) VALUES(3)");
		check(ssl_stats(ours.ssl).checkpoints[SSL_NOT_REPEATABLE] > 0, "a checkpoint");
		must_repeat(&ours, 0);
	}
}

/* A function of a DEFAULT or CHECK is found behind a parenthesis of a string, and by its quoted
 * name; the name of a time zone is found as a word alone. */
static void defaults(void)
{
	static const struct {
		const char *table;
		bool repeats;
	} tables[] = {
		{"CREATE TABLE a(v CHECK (v IN (1, 2) OR (v IS NULL)), CHECK (length(v) < 9))",
		 true},
		{"CREATE TABLE a(v CHECK (total_changes() > 0))", false},
		{"CREATE TABLE a(outcome, utc_time, d DEFAULT (abs(-1)))", true},
		{"CREATE TABLE a(v, d DEFAULT (')' || total_changes()))", false},
		{"CREATE TABLE a(v, d DEFAULT (\"total_changes\"()))", false},
		{"CREATE TABLE a(v, d DEFAULT (/* don't */ total_changes()))", false},
		{"CREATE TABLE a(v, d DEFAULT (/* ) */ total_changes()))", false},
		{"CREATE TABLE a(v, d DEFAULT (datetime(0, 'utc')))", false},
	};

	struct target ours = {0};

	open_target(&ours, false);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		int64_t before;

		scene_run(ours.ssl, tables[i].table);
		before = ssl_stats(ours.ssl).checkpoints[SSL_NOT_REPEATABLE];
		scene_run(ours.ssl, "INSERT INTO a DEFAULT VALUES");
		check((ssl_stats(ours.ssl).checkpoints[SSL_NOT_REPEATABLE] == before) ==
			      tables[i].repeats,
		      tables[i].table);
		scene_run(ours.ssl, "DROP TABLE a");
	}
	scene_close(ours.ssl);
}

/* A time zone that is given as a value is one in any encoding. */
static void modifiers(void)
{
	static const uint16_t wide[] = {'u', 't', 'c', 0};
	struct target ours = {0};
	struct ssl_stmt *statement;

	open_target(&ours, true);
	check(ssl_prepare(ours.ssl, "INSERT INTO t(k) VALUES(datetime(0, ?1))", -1, &statement,
			  NULL) == SQLITE_OK,
	      "prepared");
	for (int64_t i = 1; i <= 3; i++) {
		if (i == 1)
			ssl_bind_text(statement, 1, "localtime", -1);
		else if (i == 2)
			ssl_bind_text16(statement, 1, wide, -1);
		else
			ssl_bind_blob(statement, 1, "localtime", 9);
		check(ssl_step(statement) == SQLITE_DONE && ssl_reset(statement) == SQLITE_OK,
		      "inserted");
		check(ssl_stats(ours.ssl).checkpoints[SSL_NOT_REPEATABLE] == i, "a checkpoint");
	}
	ssl_finalize(statement);
	must_repeat(&ours, 0);
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

	open_target(&ours, true);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		scene_run(ours.ssl, texts[i]);
	must_repeat(&ours, 6);
}

/* A blob that is open keeps the transaction of a statement without BEGIN open, and one of another
 * database keeps none. */
static void beside(void)
{
	struct target ours = {0};
	sqlite3_blob *blob;

	open_target(&ours, true);
	check(sqlite3_blob_open(ours.db, "main", "t", "v", 40, 1, &blob) == SQLITE_OK, "a blob");
	scene_run(ours.ssl, "UPDATE w SET value=1; INSERT INTO w VALUES('first', 1);"
			    "INSERT INTO w VALUES('second', 2)");
	check(sqlite3_blob_close(blob) == SQLITE_OK, "committed");
	scene_run(ours.ssl, "CREATE TEMP TABLE own(v); INSERT INTO own VALUES(zeroblob(9))");
	check(sqlite3_blob_open(ours.db, "temp", "own", "v", 1, 1, &blob) == SQLITE_OK, "a blob");
	scene_run(ours.ssl, "BEGIN; INSERT INTO w VALUES('third', 3); ROLLBACK;"
			    "INSERT INTO w VALUES('fourth', 4)");
	sqlite3_blob_close(blob);
	must_repeat(&ours, 2);
}

static int allow(void *argument, int action, const char *first, const char *second,
		 const char *database, const char *trigger)
{
	return SQLITE_OK;
}

/* Whoever takes the authorizer away takes the records away. */
static void authorizer(void)
{
	struct ssl *ssl = scene_open("a.db");

	scene_run(ssl, "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
	check(ssl_stats(ssl).logged == 1, "logged");
	sqlite3_set_authorizer(ssl_db(ssl), allow, NULL);
	scene_run(ssl, "INSERT INTO t VALUES(total_changes())");
	check(ssl_stats(ssl).logged == 1, "not logged");
	check(ssl_stats(ssl).checkpoints[SSL_NOT_CAPTURED] == 1, "a checkpoint");
	scene_close(ssl);
}

/* A trigger that is the connection's alone changes rows that a recovery would not. */
static void temporary(void)
{
	struct target ours = {0};

	open_target(&ours, false);
	check(load_create(&ours) == SQLITE_OK, "made");
	scene_run(ours.ssl, "CREATE TEMP TRIGGER more AFTER INSERT ON w BEGIN"
			    " INSERT INTO t(id, r) VALUES(777, 0); END;"
			    "INSERT INTO w VALUES('x', 1)");
	check(ssl_stats(ours.ssl).checkpoints[SSL_OTHER_DATABASE] == 1, "a checkpoint");
	must_repeat(&ours, 0);
}

const struct scene own_scenes[] = {
	{"release", NULL, 20, 9},
	{.name = "inspected", .play = inspected},
	{.name = "sizes", .play = sizes},
	{.name = "largest", .play = largest},
	{.name = "defaults", .play = defaults},
	{.name = "modifiers", .play = modifiers},
	{.name = "authorizer", .play = authorizer},
	{.name = "temporary", .play = temporary},
	{.name = "rowid", .play = rowid},
	{.name = "beside", .play = beside},
	{.name = "hole", .play = hole},
	{.name = "stale", .play = stale},
	{.name = "unsynced", .play = unsynced},
	{.name = NULL},
};

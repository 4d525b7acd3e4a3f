/* A program that closes connections in a transaction, and before their last statements. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_open(const char *, sqlite3 **);
int sqlite3_close(sqlite3 *);
int sqlite3_close_v2(sqlite3 *);
int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
int sqlite3_prepare_v2(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
int sqlite3_step(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);

enum { OK = 0, BUSY = 5, ROW = 100, DONE = 101 };

static sqlite3 *opened(void)
{
	sqlite3 *db;

	assert(sqlite3_open("closed.db", &db) == OK);
	return db;
}

static void run(sqlite3 *db, const char *sql)
{
	assert(sqlite3_exec(db, sql, NULL, NULL, NULL) == OK);
}

static sqlite3_stmt *prepared(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	assert(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == OK);
	return statement;
}

int main(void)
{
	sqlite3 *db = opened();
	sqlite3_stmt *begin, *insert, *commit;

	run(db, "CREATE TABLE t(a)");
	assert(sqlite3_close(db) == OK);

	/* within a transaction, by each of the two */
	db = opened();
	run(db, "BEGIN; INSERT INTO t VALUES('lost 1')");
	assert(sqlite3_close(db) == OK);
	db = opened();
	run(db, "SAVEPOINT s; INSERT INTO t VALUES('lost 2')");
	assert(sqlite3_close_v2(db) == OK);

	/* in use, so that it stays open */
	db = opened();
	run(db, "BEGIN; INSERT INTO t VALUES('kept 1')");
	commit = prepared(db, "COMMIT");
	assert(sqlite3_close(db) == BUSY);
	assert(sqlite3_step(commit) == DONE && sqlite3_finalize(commit) == OK);
	assert(sqlite3_close(db) == OK);

	/* its last statement closes it, and its transaction is rolled back */
	db = opened();
	run(db, "BEGIN; INSERT INTO t VALUES('lost 3')");
	insert = prepared(db, "INSERT INTO t VALUES('never')");
	assert(sqlite3_close_v2(db) == OK && sqlite3_finalize(insert) == OK);

	/* closed, its statements go on */
	db = opened();
	begin = prepared(db, "BEGIN");
	insert = prepared(db, "INSERT INTO t VALUES('kept 2')");
	commit = prepared(db, "COMMIT");
	assert(sqlite3_step(begin) == DONE && sqlite3_close_v2(db) == OK);
	assert(sqlite3_step(insert) == DONE && sqlite3_step(commit) == DONE);
	assert(sqlite3_finalize(begin) == OK && sqlite3_finalize(insert) == OK);
	assert(sqlite3_finalize(commit) == OK);

	/* the end of its last statement commits it */
	db = opened();
	insert = prepared(db, "INSERT INTO t VALUES('kept 3') RETURNING a");
	assert(sqlite3_step(insert) == ROW && sqlite3_close_v2(db) == OK);
	assert(sqlite3_finalize(insert) == OK);

	db = opened();
	run(db, "INSERT INTO t VALUES('kept 4')");
	assert(sqlite3_close(db) == OK);
	return EXIT_SUCCESS;
}

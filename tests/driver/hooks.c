/* A program with hooks of its own, linked with a shared SQLite: prints how often each was called.
 */
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
int sqlite3_reset(sqlite3_stmt *);
int sqlite3_finalize(sqlite3_stmt *);
void *sqlite3_commit_hook(sqlite3 *, int (*)(void *), void *);
void *sqlite3_rollback_hook(sqlite3 *, void (*)(void *), void *);
void *sqlite3_wal_hook(sqlite3 *, int (*)(void *, sqlite3 *, const char *, int), void *);
int sqlite3_trace_v2(sqlite3 *, unsigned, int (*)(unsigned, void *, void *, void *), void *);

static int commits, rollbacks, wals, traces;

static int on_commit(void *of)
{
	++*(int *)of;
	return 0;
}

static void on_rollback(void *of)
{
	++*(int *)of;
}

static int on_wal(void *of, sqlite3 *db, const char *name, int pages)
{
	++*(int *)of;
	return 0;
}

static int on_trace(unsigned kind, void *of, void *statement, void *text)
{
	++*(int *)of;
	return 0;
}

static void run(sqlite3 *db, const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != 0)
		printf("%s\n", error);
}

int main(void)
{
	sqlite3 *db, *late;
	sqlite3_stmt *statement, *other;

	assert(sqlite3_open("hooks.db", &db) == 0);
	sqlite3_commit_hook(db, on_commit, &commits);
	sqlite3_rollback_hook(db, on_rollback, &rollbacks);
	sqlite3_wal_hook(db, on_wal, &wals);
	sqlite3_trace_v2(db, 1, on_trace, &traces);
	run(db,
	    "CREATE TABLE t (a INTEGER PRIMARY KEY, b); INSERT INTO t VALUES (1, 1);"
	    "/* a comment */ BEGIN; INSERT INTO t VALUES (2, 2); INSERT INTO t VALUES (3, 3); END");
	run(db, "INSERT INTO t VALUES (1, 1)");
	run(db,
	    "BEGIN; INSERT INTO t VALUES (4, 4); ROLLBACK; SAVEPOINT s; DELETE FROM t WHERE a = 3;"
	    "RELEASE s; PRAGMA journal_mode = wal; UPDATE t SET b = 5; VACUUM");
	/* in use by a statement: it stays open */
	assert(sqlite3_prepare_v2(db, "INSERT INTO t(b) VALUES (6) RETURNING a", -1, &statement,
				  NULL) == 0);
	assert(sqlite3_close(db) == 5);
	/* by a reset it ends, and commits; and once more by its end */
	assert(sqlite3_step(statement) == 100 && sqlite3_reset(statement) == 0);
	assert(sqlite3_step(statement) == 100 && sqlite3_finalize(statement) == 0);
	assert(sqlite3_commit_hook(db, NULL, NULL) == &commits);
	assert(sqlite3_close(db) == 0);
	printf("%d %d %d %d\n", commits, rollbacks, wals, traces);

	/* closed before its last statements: these free it */
	assert(sqlite3_open("late.db", &late) == 0);
	run(late, "CREATE TABLE t (a)");
	assert(sqlite3_prepare_v2(late, "INSERT INTO t VALUES (1)", -1, &statement, NULL) == 0);
	assert(sqlite3_prepare_v2(late, "INSERT INTO t VALUES (2)", -1, &other, NULL) == 0);
	assert(sqlite3_close_v2(late) == 0);
	assert(sqlite3_finalize(statement) == 0 && sqlite3_finalize(other) == 0);
	assert(sqlite3_finalize(NULL) == 0 && sqlite3_close(NULL) == 0);
	return EXIT_SUCCESS;
}

/*
 * LD_PRELOAD library that records the transactions of a program with a shared libsqlite3, passes
 * its statements to record.c and counts SQLITE_BUSY (locks.c).
 *
 * It wraps five functions of SQLite and reads, before and after each call, two public properties:
 * autocommit, and the number of pages written to its files. It sets no hook and no trace, which
 * belong to the program, and changes no argument, result or errno.
 *
 * A transaction is recorded if pages were written: in autocommit, one per statement; otherwise, all
 * from the call that left autocommit to the one that returned to it. sqlite3_exec also steps its
 * statements by sqlite3_step, so they are seen individually. Pages written in other calls
 * (sqlite3_backup_step, sqlite3_blob_write) are counted as unseen.
 */
#define _GNU_SOURCE /* gettid */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../comments.h"
#include "clock.h"
#include "library.h"
#include "locks.h"
#include "log.h"
#include "record.h"
#include "transactions.h"

#define EXPORT __attribute__((visibility("default")))
/* sqlite3.h; these numbers never change */
enum { OK = 0, ROW = 100, DONE = 101, DBSTATUS_CACHE_WRITE = 9 };

/* A connection, from its first call that was seen to its close. */
struct connection {
	struct connection *next;
	sqlite3 *db;
	uint64_t begin_ns; /* of the current transaction, 0 for none */
	int pages;	   /* written by the connection when it began, or at the last check */
	int rows;
	uint32_t path; /* of its main database, in the log */
	bool has_path;
	bool closed; /* by sqlite3_close_v2; freed at the end of its last statement */
	char op[sizeof(((struct transaction *)NULL)->op)];
};

static struct connection *connections[64];
/* The connection in use by this thread: SQLite calls itself. */
static _Thread_local sqlite3 *within;

/* Returns the place of a connection, existing or new. Called with the lock. */
static struct connection **find_connection(sqlite3 *db)
{
	struct connection **place = &connections[((uintptr_t)db >> 4) % 64];

	while (*place && (*place)->db != db)
		place = &(*place)->next;
	return place;
}

/* The same, allocating a new one; NULL there without memory. */
static struct connection **connection_of(sqlite3 *db)
{
	struct connection **place = find_connection(db);

	if (*place == NULL && (*place = calloc(1, sizeof(**place))))
		(*place)->db = db;
	return place;
}

/* Copies the first word of a statement in lower case. */
static void first_word(char *word, size_t size, const char *sql)
{
	size_t length = 0;

	sql = sql ? skip_comments(sql) : "";
	for (; length + 1 < size; length++) {
		char letter = lower_case(sql[length]);

		if (letter < 'a' || letter > 'z')
			break;
		word[length] = letter;
	}
	word[length] = '\0';
}

static void note(struct library *sqlite, struct connection *of, int pages, int rows, bool undone)
{
	uint64_t number = __atomic_fetch_add(&transaction_log->next, 1, __ATOMIC_RELAXED);
	struct transaction *place;

	if (number >= TRANSACTIONS_MOST)
		return;
	if (!of->has_path) {
		const char *path = sqlite->db_filename(of->db, "main");

		of->path = log_path(path ? path : "", false);
		of->has_path = true;
	}
	place = &transaction_log->transactions[number];
	*place = (struct transaction){
		.begin_ns = of->begin_ns,
		.end_ns = clock_now(),
		.tid = (uint32_t)gettid(),
		.pages = (uint32_t)(pages - of->pages),
		.rows = (uint32_t)(rows - of->rows),
		.rolled_back = undone,
		.path = of->path,
	};
	memcpy(place->op, of->op, sizeof(place->op));
	__atomic_store_n(&place->whole, 1, __ATOMIC_RELEASE);
}

/* Returns how many pages a connection has written. It takes the connection's mutex, so `lock` must
 * not be held: the mutex's owner may be in a function that calls SQLite. */
static int written(struct library *sqlite, sqlite3 *db)
{
	int pages, most;

	return sqlite->db_status(db, DBSTATUS_CACHE_WRITE, &pages, &most, 0) == OK ? pages : -1;
}

/* Counts pages written since the last check, in calls that are not watched. With the lock. */
static void look(struct connection *of, int pages)
{
	/* fewer: the program reset the counter, or a database was detached */
	if (pages > of->pages)
		__atomic_add_fetch(&transaction_log->unseen, (uint64_t)(pages - of->pages),
				   __ATOMIC_RELAXED);
	of->pages = pages;
}

static void count_unfollowed(void)
{
	if (transaction_log)
		__atomic_add_fetch(&transaction_log->unfollowed, 1, __ATOMIC_RELAXED);
}

/* Returns whether a statement begins with this word. Called for each row that is read. */
static bool begins_with(struct library *sqlite, sqlite3_stmt *statement, const char *word)
{
	const char *sql = sqlite->sql(statement);

	return sql && begins_with_word(skip_comments(sql), word);
}

/* Before a step: returns whether to check it afterwards. */
static bool enter_step(struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement)
{
	bool is_autocommit = sqlite->get_autocommit(db), looks = false;
	struct connection *of;
	int pages = 0;

	/* read-only statements that may begin a transaction */
	if (is_autocommit && sqlite->stmt_readonly(statement) &&
	    !begins_with(sqlite, statement, "begin") &&
	    !begins_with(sqlite, statement, "savepoint"))
		return false;
	if (is_autocommit)
		pages = written(sqlite, db);
	lock_all();
	of = can_note() ? *connection_of(db) : NULL;
	if (of == NULL || pages < 0) {
		count_unfollowed();
	} else {
		looks = true;
		if (of->begin_ns == 0) {
			if (is_autocommit)
				look(of, pages);
			of->begin_ns = clock_now();
			of->rows = sqlite->total_changes(db);
			first_word(of->op, sizeof(of->op), sqlite->sql(statement));
		}
	}
	unlock_all();
	return looks;
}

/* Before a reset or finalize: the same. Neither begins a transaction. */
static bool enter_end(sqlite3 *db)
{
	struct connection *of;
	bool looks;

	lock_all();
	of = *find_connection(db);
	looks = of && of->begin_ns;
	unlock_all();
	return looks;
}

/* Records a connection's open transaction when it is closed. With the lock. */
static void note_closed(struct library *sqlite, struct connection *of, int pages, bool undone)
{
	if (of->begin_ns && pages > of->pages)
		note(sqlite, of, pages, sqlite->total_changes(of->db), undone);
	of->begin_ns = 0;
}

/* Returns whether the end of a statement also ends its connection, closed earlier, whose last
 * statement it is. Drops the connection's state, as its address may be reused. */
static bool forget_closed(struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement)
{
	struct connection **place, *of;
	bool closed, goes_on;
	int pages;

	lock_all();
	of = *find_connection(db);
	closed = of && of->closed;
	unlock_all();
	if (!closed || sqlite->next_stmt(db, NULL) != statement ||
	    sqlite->next_stmt(db, statement) != NULL)
		return false;
	pages = written(sqlite, db);
	goes_on = sqlite->get_autocommit(db);
	lock_all();
	place = find_connection(db);
	of = *place;
	if (of) {
		/* afterwards the pages written at its end can no longer be read */
		if (of->begin_ns && goes_on)
			count_unfollowed();
		note_closed(sqlite, of, pages, !goes_on);
		*place = of->next;
		free(of);
	}
	unlock_all();
	return true;
}

/* After the call: records a transaction that ended. undoes: the statement was a ROLLBACK. */
static void leave(struct library *sqlite, sqlite3 *db, int result, bool undoes)
{
	bool failed = result != OK && result != DONE;
	struct connection *of;
	int pages;

	/* an unfinished statement or open transaction ends later */
	if (result == ROW || !sqlite->get_autocommit(db))
		return;
	pages = written(sqlite, db);
	lock_all();
	of = *find_connection(db);
	if (of && of->begin_ns) {
		if (pages > of->pages)
			note(sqlite, of, pages, sqlite->total_changes(db), undoes || failed);
		of->pages = pages;
		of->begin_ns = 0;
	}
	unlock_all();
}

/* After an ATTACH: records the connection's other files. */
static void note_attached(struct library *sqlite, sqlite3 *db)
{
	const char *name, *path;

	lock_all();
	if (can_note() && sqlite->db_name == NULL)
		count_unfollowed();
	/* after main and temp; one in memory has no path */
	for (int i = 2; can_note() && sqlite->db_name && (name = sqlite->db_name(db, i)); i++)
		if ((path = sqlite->db_filename(db, name)) && *path)
			log_path(path, true);
	unlock_all();
}

/* Calls one of SQLite's statement functions, watched unless SQLite itself calls it. */
static int call(struct library *sqlite, int (*real)(sqlite3_stmt *), sqlite3_stmt *statement)
{
	struct recorded recorded = {.steps = real == sqlite->step,
				    .finalizes = real == sqlite->finalize};
	int error = errno, result;
	sqlite3 *outer = within, *db;
	bool looks, undoes;

	if (statement == NULL || !sqlite->has_all)
		return real(statement);
	db = sqlite->db_handle(statement);
	if (db == outer)
		return real(statement);
	recorded.closes = recorded.finalizes && forget_closed(sqlite, db, statement);
	looks = recorded.steps ? enter_step(sqlite, db, statement)
			       : !recorded.closes && enter_end(db);
	undoes = looks && begins_with(sqlite, statement, "rollback");
	record_begin(&recorded, sqlite, db, statement);
	within = db;
	locks_enter();
	errno = error;
	result = real(statement);
	error = errno;
	/* a reset or finalize returns the result of the last step */
	locks_leave(recorded.steps ? result : OK);
	within = outer;
	record_end(&recorded, sqlite, db, statement, result);
	if (looks)
		leave(sqlite, db, result, undoes);
	if (recorded.steps && result == DONE && begins_with(sqlite, statement, "attach"))
		note_attached(sqlite, db);
	errno = error;
	return result;
}

#define WATCHED(name)                                                             \
	EXPORT int sqlite3_##name(sqlite3_stmt *statement)                        \
	{                                                                         \
		struct library *sqlite = library_of(__builtin_return_address(0)); \
                                                                                  \
		return call(sqlite, sqlite->name, statement);                     \
	}
WATCHED(step)
WATCHED(reset)
WATCHED(finalize)

/* The state of a connection that is being closed. */
struct closing {
	struct connection *connection; /* NULL if nothing is */
	struct entry *recorded;	       /* the same */
};

/* Before a connection is closed: removes its state, as its address may be reused. A connection that
 * sqlite3_close_v2 keeps until its last statement is finalized stays, marked as closed. */
static struct closing forget(struct library *sqlite, sqlite3 *db, bool later)
{
	struct closing closing = {0};
	struct connection **place, *of;
	int error = errno, pages;
	bool in_use, stays;

	if (db == NULL || !sqlite->has_all)
		return closing;
	/* it takes the connection's mutex, too */
	in_use = sqlite->next_stmt(db, NULL) != NULL;
	stays = later && in_use;
	pages = written(sqlite, db);
	lock_all();
	place = can_note() || record_is_on() ? connection_of(db) : find_connection(db);
	of = *place;
	if (of && of->begin_ns == 0 && pages >= 0 && can_note())
		look(of, pages);
	if (of && stays) {
		of->closed = true;
	} else if (of) {
		/* sqlite3_close fails on a connection in use, and leaves it unchanged */
		if (!in_use)
			note_closed(sqlite, of, pages, true);
		*place = of->next;
		closing.connection = of;
	}
	unlock_all();
	if (!stays)
		closing.recorded = record_take(db);
	errno = error;
	return closing;
}

EXPORT int sqlite3_close(sqlite3 *db)
{
	struct library *sqlite = library_of(__builtin_return_address(0));
	struct closing closing = forget(sqlite, db, false);
	int result = sqlite->close(db), error = errno;

	if (result == OK) {
		free(closing.connection);
		record_free(closing.recorded);
	} else {
		struct connection **place;

		lock_all();
		place = find_connection(db);
		if (closing.connection) {
			closing.connection->next = *place;
			*place = closing.connection;
		}
		unlock_all();
		record_put(closing.recorded);
	}
	errno = error;
	return result;
}

EXPORT int sqlite3_close_v2(sqlite3 *db)
{
	struct library *sqlite = library_of(__builtin_return_address(0));
	struct closing closing = forget(sqlite, db, true);

	free(closing.connection);
	record_free(closing.recorded);
	return sqlite->close_v2(db);
}

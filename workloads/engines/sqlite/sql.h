/* SQLite calls that either work or say in one line what did not. */
#ifndef COMMITPATH_SQLITE_SQL_H
#define COMMITPATH_SQLITE_SQL_H

#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "error.h"
#include "sqlite3.h"

/* A part of a table's text, and the mark after it: 'k', 'v', 'n' or none at its end. */
struct sql_piece {
	const char *text;
	size_t length;
	char mark;
};
enum { MAX_SQL_PIECES = 4 };

struct database {
	sqlite3 *db;
	void *own; /* of an engine that is made of SQLite */
	const char *path;
	size_t number;
	const struct options *options;
	const struct workload *workload;
	enum engine_use use;
	sqlite3_stmt *insert; /* of a database that is created; NULL: not prepared yet */
	const char *text;     /* what was rendered last */
	size_t length;
	int64_t line; /* of a user's file, where it begins; 0: it is in none */
	struct sql_piece pieces[KEY_OPERATIONS][MAX_SQL_PIECES];
	char *buffer; /* for texts that are rendered */
	size_t buffer_size;
};

/* The connection's last error: what was done, to which SQL (NULL: the transaction's), the extended
 * result code and SQLite's message. Returns false. */
bool sql_error(sqlite3 *db, const char *operation, const char *sql, struct error *error);

/* Puts the line of the user's file before an error that is set, if it is in one: that of `place`
 * in `text`, which begins in `line`. Returns false. */
bool sql_error_at(const char *text, int64_t line, const char *place, struct error *error);

/* Executes what was rendered last, and counts the rows that it returns (execute.c). */
bool sql_execute(struct database *database, struct outcome *outcome, struct error *error);

/* Adds the row that a statement is at to what a transaction read (row.c). */
void sql_count_row(sqlite3_stmt *statement, struct outcome *outcome);

/* Runs a text of one or more statements and drops its answer. */
bool sql_run(sqlite3 *db, const char *sql, struct error *error);

/* The first column of the first row of a query, as a number. A query
 * without a row is an error. */
bool sql_number(sqlite3 *db, const char *sql, int64_t *value, struct error *error);

/* The first column of the first row of a query, as text in `answer`. `found` is false
 * when it has no row (a pragma that this SQLite does not know). */
bool sql_text(sqlite3 *db, const char *sql, char *answer, size_t size, bool *found,
	      struct error *error);

/* Prepares one statement; NULL is an error. */
sqlite3_stmt *sql_prepare(sqlite3 *db, const char *sql, struct error *error);

#endif

/* struct database of engines made of SQLite, and wrappers of SQLite's C API that set a one-line
 * error when a call fails. */
#pragma once

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
	void *own;		 /* state of an engine made from SQLite */
	sqlite3 *reader;	 /* a second connection, in a read transaction; NULL: none */
	struct writers *writers; /* with a second writer; NULL: there is none */
	const char *path;
	size_t number;
	const struct options *options;
	const struct workload *workload;
	enum engine_use use;
	sqlite3_stmt *insert; /* of a database that is created; NULL: not prepared yet */
	const char *text;     /* rendered last */
	size_t length;
	int64_t line; /* of a user's file, where it begins; 0: not from a file */
	struct sql_piece pieces[KEY_OPERATIONS][MAX_SQL_PIECES];
	char *buffer; /* for rendered texts */
	size_t buffer_size;
};

/* Allocates the memory of rendered texts and faults it in (render.c). */
bool render_open(struct database *database, struct error *error);

/* Sets the connection's last error: the operation, its SQL (NULL: the transaction's), the extended
 * result code and SQLite's message. Returns false. */
bool sql_error(sqlite3 *db, const char *operation, const char *sql, struct error *error);

/* Prefixes an error with the line of the user's file, if it comes from one: of `place` in `text`,
 * which begins in `line`. Returns false. */
bool sql_error_at(const char *text, int64_t line, const char *place, struct error *error);

/* Executes the statement that `text` begins with, and counts the rows that it returns. `text`
 * advances to its end. */
typedef bool sql_executor(struct database *database, const char **text, size_t length,
			  struct outcome *outcome, struct error *error);

/* With prepare, step and finalize, as sqlite3_exec and an app with literal SQL do. */
sql_executor sql_execute_one;
/* Executes the statements that were rendered last. */
bool sql_execute(struct database *database, sql_executor *execute, struct outcome *outcome,
		 struct error *error);

/* Adds a value of this type and size to what a transaction read. */
void sql_count_value(int type, size_t size, struct outcome *outcome);
/* Adds the row that a statement is at to what a transaction read. */
void sql_count_row(sqlite3_stmt *statement, struct outcome *outcome);

/* Runs one or more statements and drops their results. */
bool sql_run(sqlite3 *db, const char *sql, struct error *error);

/* The first column of the first row of a query, as a number. A query
 * without a row is an error. */
bool sql_number(sqlite3 *db, const char *sql, int64_t *value, struct error *error);

/* Returns the first column of the first row of a query, as text in `answer`. `found` is false if it
 * has no row (a pragma that this SQLite does not know). */
bool sql_text(sqlite3 *db, const char *sql, char *answer, size_t size, bool *found,
	      struct error *error);

/* Prepares one statement; NULL is an error. */
sqlite3_stmt *sql_prepare(sqlite3 *db, const char *sql, struct error *error);

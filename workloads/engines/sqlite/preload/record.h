/* A program's statements, recorded as they are executed (docs/how-to/trace.md). */
#ifndef COMMITPATH_PRELOAD_RECORD_H
#define COMMITPATH_PRELOAD_RECORD_H

#include "library.h"
#include "text.h"

/* What is recorded of a statement or a connection. */
struct entry;

/* A call of a statement. */
struct recorded {
	struct entry *statement, *connection;
	bool steps, finalizes;
	bool closes;	 /* its connection, which was closed and has no other statement */
	bool autocommit; /* before the call, if it closes the connection */
};

/* Whether anything is recorded. */
bool record_is_on(void);

/* Before a call of a statement. One that is finalized is taken out, as is a connection that the
 * call closes: others may get their addresses. A step that begins the statement takes down what it
 * is and what it is given. */
void record_begin(struct recorded *call, struct library *sqlite, sqlite3 *db,
		  sqlite3_stmt *statement);

/* Behind it: keeps the statement unless it failed, and writes a transaction that ended. */
void record_end(struct recorded *call, struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement,
		int result);

/* Before a connection is closed: takes out what is recorded of it, NULL if nothing is. */
struct entry *record_take(const void *of);

/* Puts it back, as the connection is still open. */
void record_put(struct entry *entry);

/* Frees it. A transaction that has not ended was rolled back by the close. */
void record_free(struct entry *entry);

/* Where the value of a parameter is put, empty; NULL: nowhere. */
struct text *record_value(sqlite3_stmt *statement, int index);

/* No parameter has a value any more. */
void record_clear(sqlite3_stmt *statement);

#endif

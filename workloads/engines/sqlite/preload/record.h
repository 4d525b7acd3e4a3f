/* Records a program's SQL statements with their bound values, by transaction, as a trace that can
 * be repeated (docs/how-to/trace.md). */
#pragma once

#include "library.h"
#include "text.h"

/* The recorded state of a statement or a connection. */
struct entry;

/* A call of a statement. */
struct recorded {
	struct entry *statement, *connection;
	bool steps, finalizes;
	bool closes;	 /* closes its connection: closed earlier, and this is its last statement */
	bool autocommit; /* before the call, if it closes the connection */
};

/* Whether anything is recorded. */
bool record_is_on(void);

/* Before a call of a statement. Removes the entry of a finalized statement, and of a connection
 * that the call closes, as their addresses may be reused. A step that begins the statement records
 * it with its values. */
void record_begin(struct recorded *call, struct library *sqlite, sqlite3 *db,
		  sqlite3_stmt *statement);

/* After the call: keeps the statement unless it failed, and writes a transaction that ended. */
void record_end(struct recorded *call, struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement,
		int result);

/* Before a connection is closed: removes and returns its entry, NULL if it has none. */
struct entry *record_take(const void *of);

/* Puts it back, as the connection is still open. */
void record_put(struct entry *entry);

/* Frees it. A transaction that has not ended was rolled back by the close. */
void record_free(struct entry *entry);

/* Returns an empty text for the value of a parameter; NULL: not recorded. */
struct text *record_value(sqlite3_stmt *statement, int index);

/* Clears all parameters. */
void record_clear(sqlite3_stmt *statement);

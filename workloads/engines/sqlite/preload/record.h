/* A program's statements, recorded as they are executed (docs/trace.md). */
#ifndef COMMITPATH_PRELOAD_RECORD_H
#define COMMITPATH_PRELOAD_RECORD_H

#include "library.h"
#include "text.h"

/* Before a step that begins a statement: takes down what it is and what it is given. */
void record_begin(struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement);

/* Behind any call of a statement: keeps it unless it failed, and writes a transaction that ended.
 */
void record_end(struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement, int result);

/* Before a statement is finalized. */
void record_forget(sqlite3_stmt *statement);

/* Where the value of a parameter is put, empty; NULL: nowhere. */
struct text *record_value(sqlite3_stmt *statement, int index);

/* No parameter has a value any more. */
void record_clear(sqlite3_stmt *statement);

#endif

/* Opens sqlitekv's tables, executes SQL, prints rows as texts: shared by this folder's programs. */
#pragma once

#include "direct.h"

/* Prints the program's name and a line, and ends it. */
_Noreturn void fail(const char *what, const char *detail);

/* Opens a database in memory with sqlitekv's tables of a folder, which is made. */
struct store *open_kv(const char *folder, const struct store_options *options, bool blind,
		      sqlite3 **db);

/* Executes SQL, which must succeed. */
void execute(sqlite3 *db, const char *sql);

/* The row that a statement is at, or that was read directly, with the types of its values. */
char *row_text(sqlite3_stmt *statement);
char *direct_text(const struct direct *direct);

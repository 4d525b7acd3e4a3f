/* Reads a row by its key from the query cache, before SQLite compiles the statement. */
#pragma once

#include "values.h"

/* A statement with more columns is left to SQLite. */
enum { DIRECT_COLUMNS = 32 };

/* The result of a statement: one row, or none. */
struct direct {
	bool has_row;
	int count; /* columns */
	struct field fields[DIRECT_COLUMNS];
};

/* Reads the result of the statement that `text` begins with, if it is of the direct subset and its
 * row is in the cache; `text` then advances to its end, and the fields are valid until the next
 * call of the module. False: SQLite executes it. */
bool direct_read(struct module *module, const char **text, struct direct *direct);

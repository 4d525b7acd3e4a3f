/* Finds the real libsqlite3 functions that a caller would have got without the preload, for the
 * preload's wrappers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef void (*function)(void);
typedef void (*destructor)(void *);

/* Functions of one library. */
struct library {
#define FUNCTION(result, name, parameters) result(*name) parameters;
#include "functions.h"
#undef FUNCTION
	/* an old library lacks some functions: it is called, but not watched or not recorded */
	bool has_all, has_recorded;
};

/* Returns the functions that the caller at `address` would have got without this library. */
struct library *library_of(void *address);

/* Returns whether an address is in a SQLite library. */
bool library_holds(void *address);

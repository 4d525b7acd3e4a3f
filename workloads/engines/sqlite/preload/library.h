/* The functions of the SQLite that a program has loaded. */
#ifndef COMMITPATH_PRELOAD_LIBRARY_H
#define COMMITPATH_PRELOAD_LIBRARY_H

#include <stdbool.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef void (*function)(void);

/* What is called of one library. */
struct library {
	int (*step)(sqlite3_stmt *);
	int (*reset)(sqlite3_stmt *);
	int (*finalize)(sqlite3_stmt *);
	int (*close)(sqlite3 *);
	int (*close_v2)(sqlite3 *);
	sqlite3 *(*db_handle)(sqlite3_stmt *);
	const char *(*sql)(sqlite3_stmt *);
	int (*stmt_readonly)(sqlite3_stmt *);
	int (*get_autocommit)(sqlite3 *);
	int (*db_status)(sqlite3 *, int, int *, int *, int);
	int (*total_changes)(sqlite3 *);
	const char *(*db_filename)(sqlite3 *, const char *);
	sqlite3_stmt *(*next_stmt)(sqlite3 *, sqlite3_stmt *);
	bool has_all; /* an old library lacks some: it is called, and not watched */
};

/* The functions that the caller at `address` would have got without this library. */
struct library *library_of(void *address);

#endif

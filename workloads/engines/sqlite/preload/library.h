/* The functions of the SQLite library that a program uses. */
#ifndef COMMITPATH_PRELOAD_LIBRARY_H
#define COMMITPATH_PRELOAD_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
typedef struct sqlite3_value sqlite3_value;
typedef void (*function)(void);
typedef void (*destructor)(void *);

/* Functions of one library. */
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
	/* for recordings */
	int (*stmt_busy)(sqlite3_stmt *);
	int (*bind_parameter_count)(sqlite3_stmt *);
	int (*clear_bindings)(sqlite3_stmt *);
	int (*bind_null)(sqlite3_stmt *, int);
	int (*bind_int)(sqlite3_stmt *, int, int);
	int (*bind_int64)(sqlite3_stmt *, int, int64_t);
	int (*bind_double)(sqlite3_stmt *, int, double);
	int (*bind_zeroblob)(sqlite3_stmt *, int, int);
	int (*bind_zeroblob64)(sqlite3_stmt *, int, uint64_t);
	int (*bind_text)(sqlite3_stmt *, int, const char *, int, destructor);
	int (*bind_text16)(sqlite3_stmt *, int, const void *, int, destructor);
	int (*bind_text64)(sqlite3_stmt *, int, const char *, uint64_t, destructor, unsigned char);
	int (*bind_blob)(sqlite3_stmt *, int, const void *, int, destructor);
	int (*bind_blob64)(sqlite3_stmt *, int, const void *, uint64_t, destructor);
	int (*bind_value)(sqlite3_stmt *, int, const sqlite3_value *);
	int (*value_type)(sqlite3_value *);
	int64_t (*value_int64)(sqlite3_value *);
	double (*value_double)(sqlite3_value *);
	const char *(*value_text)(sqlite3_value *);
	const void *(*value_blob)(sqlite3_value *);
	int (*value_bytes)(sqlite3_value *);
	int (*column_int)(sqlite3_stmt *, int);
	const char *(*column_text)(sqlite3_stmt *, int);
	/* their results are counted (locks.c) */
	int (*prepare_v2)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **);
	int (*prepare_v3)(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **,
			  const char **);
	const char *(*db_name)(sqlite3 *, int);
	/* an old library lacks some functions: it is called, but not watched or not recorded */
	bool has_all, has_recorded;
};

/* Returns the functions that the caller at `address` would have got without this library. */
struct library *library_of(void *address);

/* Returns whether an address is in a SQLite library. */
bool library_holds(void *address);

#endif

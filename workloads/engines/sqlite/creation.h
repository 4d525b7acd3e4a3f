/* Allocating, closing and removing a database, and creating and filling one (ENGINE_CREATE) in one
 * unprotected transaction. */
#ifndef COMMITPATH_SQLITE_CREATION_H
#define COMMITPATH_SQLITE_CREATION_H

#include "sql.h"

/* Allocates a database that is opened next; NULL: no memory. */
struct database *database_make(const char *path, size_t number, const struct options *options,
			       const struct workload *workload, enum engine_use use,
			       struct error *error);

/* Closes the connection; a database that was created is then durable. */
bool database_close(struct database *database, struct error *error);

/* Frees it, after its connection was closed. */
void database_free(struct database *database);

/* Returns a file's size; 0 if it is missing or cannot be read, as then SQLite cannot either. */
int64_t database_file_size(const char *path, const char *suffix);

/* Executes a text in a database that is open, and returns only its result code. Each engine has its
 * own. */
int database_run(struct database *database, const char *sql);

bool creation_begin(struct database *database, int64_t page_size, struct error *error);

/* Ends the transaction. An error if SQLite did not accept the page size. */
bool creation_end(struct database *database, int64_t page_size, struct error *error);

#endif

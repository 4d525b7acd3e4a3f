/* Creating and filling a database (ENGINE_CREATE) in one unprotected transaction, and its tables.
 */
#ifndef COMMITPATH_SQLITE_CREATION_H
#define COMMITPATH_SQLITE_CREATION_H

#include "sql.h"

bool creation_begin(struct database *database, int64_t page_size, struct error *error);

/* Ends the transaction. An error if SQLite did not accept the page size. */
bool creation_end(struct database *database, int64_t page_size, struct error *error);

/* Makes the workload's tables; `run` executes a text and returns SQLite's result code. */
bool creation_tables(struct database *database, int (*run)(struct database *, const char *),
		     struct error *error);

/* Makes the database durable after it is closed. */
bool creation_sync(const char *path, struct error *error);

#endif

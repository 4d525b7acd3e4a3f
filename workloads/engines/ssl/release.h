/* Hides differences between SQLite releases, from 3.8.11.1 on: constants of later ones, a name as
 * SQLite gives it to a VFS, whether a transaction is open, and setting last_insert_rowid(); and has
 * TRY, which returns a failed call's result. Only these two files depend on the release. */
#pragma once

#include "ssl.h"

/* Ends a function with the result of a call that fails. */
#define TRY(call)                         \
	do {                              \
		int result_ = (call);     \
		if (result_ != SQLITE_OK) \
			return result_;   \
	} while (0)

/* Names of later releases. Earlier releases' VFSs ignore the operations of atomic writes, as a VFS
 * may; SQLITE_INNOCUOUS is ignored; ENABLE_VIEW and REVERSE_SCANORDER are unknown settings; the
 * last has another name. */
#if SQLITE_VERSION_NUMBER < 3021000
#define SQLITE_FCNTL_BEGIN_ATOMIC_WRITE 31
#define SQLITE_FCNTL_COMMIT_ATOMIC_WRITE 32
#define SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE 33
#define SQLITE_IOERR_BEGIN_ATOMIC (SQLITE_IOERR | (29 << 8))
#define SQLITE_IOERR_COMMIT_ATOMIC (SQLITE_IOERR | (30 << 8))
#define SQLITE_IOERR_ROLLBACK_ATOMIC (SQLITE_IOERR | (31 << 8))
#endif
#if SQLITE_VERSION_NUMBER < 3031000
#define SQLITE_INNOCUOUS 0
#endif
#if SQLITE_VERSION_NUMBER < 3030000
#define SQLITE_DBCONFIG_ENABLE_VIEW 1015
#endif
#if SQLITE_VERSION_NUMBER < 3044000
#define SQLITE_DBCONFIG_REVERSE_SCANORDER 1019
#endif
#if SQLITE_VERSION_NUMBER < 3034000
#define SQLITE_OPEN_SUPER_JOURNAL SQLITE_OPEN_MASTER_JOURNAL
#endif

/* Returns whether a transaction is open that began with BEGIN or writes to the database. Without
 * BEGIN, one that only writes to another database may count too. */
bool release_in_transaction(sqlite3 *db);
/* Sets last_insert_rowid(). */
int release_set_rowid(sqlite3 *db, int64_t rowid);

/* Makes a database name as SQLite passes it to a VFS, followed by two parameters and its WAL's
 * name. */
char *release_filename(const char *database, const char *wal, const char *const parameters[4]);
const char *release_filename_wal(const char *name);
void release_free_filename(char *name);

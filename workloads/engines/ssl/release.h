/* What SQLite's releases, from 3.8.11.1 on, have in different ways: nothing else here asks which it
 * is. */
#ifndef COMMITPATH_RELEASE_H
#define COMMITPATH_RELEASE_H

#include "ssl.h"

/* Names of later releases. An earlier one's VFS does not know the operations of atomic writes, as
 * that of a later one need not; it ignores SQLITE_INNOCUOUS, takes ENABLE_VIEW and
 * REVERSE_SCANORDER for settings that it does not have, and calls the last otherwise. */
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

/* Whether a transaction is open that began with BEGIN, or that writes to the database; without a
 * BEGIN one that writes to another database alone may be taken for it. */
bool release_in_transaction(sqlite3 *db);
/* What last_insert_rowid() is from now on. */
int release_set_rowid(sqlite3 *db, int64_t rowid);
/* sqlite3_expanded_sql, where there is one. */
enum { RELEASE_EXPANDS = SQLITE_VERSION_NUMBER >= 3014000 };
char *release_expanded(sqlite3_stmt *statement);

/* A database's name as SQLite gives it to a VFS: behind it are two parameters, and its WAL's. */
char *release_filename(const char *database, const char *wal, const char *const parameters[4]);
const char *release_filename_wal(const char *name);
void release_free_filename(char *name);

#endif

/* Hides differences between SQLite releases, from 3.8.11.1 on: a name as SQLite gives it to a VFS,
 * whether a transaction is open, and setting last_insert_rowid(). Only these two files depend on
 * the release. */
#include "release.h"

#include <string.h>

bool release_in_transaction(sqlite3 *db)
{
	if (!sqlite3_get_autocommit(db))
		return true;
#if SQLITE_VERSION_NUMBER >= 3034000
	return sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE;
#else
	/* Without BEGIN it lasts as long as a writing statement; a blob's is in the list too. */
	for (sqlite3_stmt *each = sqlite3_next_stmt(db, NULL); each != NULL;
	     each = sqlite3_next_stmt(db, each))
		if (sqlite3_stmt_busy(each) && !sqlite3_stmt_readonly(each))
			return true;
	return false;
#endif
}

int release_set_rowid(sqlite3 *db, int64_t rowid)
{
#if SQLITE_VERSION_NUMBER >= 3018000
	sqlite3_set_last_insert_rowid(db, rowid);
	return SQLITE_OK;
#else
	/* Set by an insert, into a temporary table, which has no trigger. */
	static const char table[] = "PRAGMA temp_store=memory;"
				    "CREATE TEMP TABLE IF NOT EXISTS \"last insert rowid\""
				    "(id INTEGER PRIMARY KEY)";
	char *sql;
	int result;

	if (sqlite3_last_insert_rowid(db) == rowid)
		return SQLITE_OK;
	TRY(sqlite3_exec(db, table, NULL, NULL, NULL));
	sql = sqlite3_mprintf("INSERT OR REPLACE INTO temp.\"last insert rowid\" VALUES(%lld)",
			      (long long)rowid);
	if (sql == NULL)
		return SQLITE_NOMEM;
	result = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return result;
#endif
}

#if SQLITE_VERSION_NUMBER >= 3032000

char *release_filename(const char *database, const char *wal, const char *const parameters[4])
{
	return (char *)sqlite3_create_filename(database, "", wal, 2, (const char **)parameters);
}

const char *release_filename_wal(const char *name)
{
	return sqlite3_filename_wal(name);
}

void release_free_filename(char *name)
{
	sqlite3_free_filename(name);
}

#else

/* The layout of sqlite3_create_filename (3.32, main.c), which earlier releases read too: four
 * zeros, by which 3.31 finds the beginning; name, parameters and an empty one; then the names of
 * journal and WAL. */
enum { ZEROS = 4, PARAMETERS = 4 };

static char *put(char *to, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(to, text, size);
	return to + size;
}

char *release_filename(const char *database, const char *wal, const char *const parameters[4])
{
	size_t size = ZEROS + strlen(database) + strlen(wal) + 6;
	char *made, *next;

	for (int i = 0; i < PARAMETERS; i++)
		size += strlen(parameters[i]) + 1;
	made = sqlite3_malloc64(size);
	if (made == NULL)
		return NULL;
	memset(made, 0, size);
	next = put(made + ZEROS, database);
	for (int i = 0; i < PARAMETERS; i++)
		next = put(next, parameters[i]);
	next = put(next, "");
	next = put(next, "");
	put(next, wal);
	return made + ZEROS;
}

const char *release_filename_wal(const char *name)
{
	/* after the name, the parameters, the empty one and the journal's */
	for (int i = 0; i < PARAMETERS + 3; i++)
		name += strlen(name) + 1;
	return name;
}

void release_free_filename(char *name)
{
	sqlite3_free(name != NULL ? name - ZEROS : NULL);
}

#endif

/* SQLite's testfixture with another default VFS: SUITE_VFS=through is "ssl" without logs, logged
 * has a log for each database that is opened, as with the extension. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

int sqlite3_ssl_init(sqlite3 *db, char **said, const sqlite3_api_routines *api);
int suite_begin(const char *unused);

/* SQLITE_EXTRA_INIT: the tests begin and end SQLite often. */
int suite_begin(const char *unused)
{
	const char *wanted = getenv("SUITE_VFS");
	char *said = NULL;
	int result;

	if (wanted == NULL)
		return SQLITE_OK;
	result = strcmp(wanted, "logged") == 0 ? sqlite3_ssl_init(NULL, &said, NULL)
					       : vfs_register();
	sqlite3_free(said);
	if (result != SQLITE_OK && result != SQLITE_OK_LOAD_PERMANENTLY)
		return result;
	return sqlite3_vfs_register(sqlite3_vfs_find("ssl"), 1);
}

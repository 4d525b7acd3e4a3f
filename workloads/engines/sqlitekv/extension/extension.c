/* Entry point of sqlitekv as a loadable extension: checks the SQLite release, and registers the
 * virtual-table module in the connection. */
#include "kv.h"

/* SQLITE_EXTENSION_INIT1, after a header that declares it */
const sqlite3_api_routines *sqlite3_api;

/* the oldest one that it was run with */
enum { LEAST_RELEASE = 3034000 };

static int compare_name(void *is_there, int count, char **values, char **columns)
{
	if (sqlite3_stricmp(values[0], "sqlitekv") == 0)
		*(bool *)is_there = true;
	return 0;
}

__attribute__((visibility("default"))) int sqlite3_sqlitekv_init(sqlite3 *db, char **fault,
								 const sqlite3_api_routines *api);

int sqlite3_sqlitekv_init(sqlite3 *db, char **fault, const sqlite3_api_routines *api)
{
	bool is_there = false;
	int result;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < LEAST_RELEASE)
		return kv_fail(fault, SQLITE_ERROR, "this is SQLite %s; it needs 3.34 or later",
			       sqlite3_libversion());
	/* another module of the name would not have the folders that are open */
	result = sqlite3_exec(db, "PRAGMA module_list", compare_name, &is_there, fault);
	if (result == SQLITE_OK && !is_there)
		result = module_register(db, NULL);
	/* LevelDB has a thread that is never joined */
	return result == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : result;
}

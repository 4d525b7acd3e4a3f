/* The module as a loadable extension. */
#include "kv.h"

/* SQLITE_EXTENSION_INIT1, after a header that declares it */
const sqlite3_api_routines *sqlite3_api;

/* the oldest one that it was run with */
enum { LEAST_RELEASE = 3034000 };

__attribute__((visibility("default"))) int sqlite3_sqlitekv_init(sqlite3 *db, char **fault,
								 const sqlite3_api_routines *api);

int sqlite3_sqlitekv_init(sqlite3 *db, char **fault, const sqlite3_api_routines *api)
{
	int result;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < LEAST_RELEASE)
		return kv_fail(fault, SQLITE_ERROR, "this is SQLite %s; it needs 3.34 or later",
			       sqlite3_libversion());
	result = module_register(db, NULL);
	/* LevelDB has a thread that is never joined */
	return result == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : result;
}

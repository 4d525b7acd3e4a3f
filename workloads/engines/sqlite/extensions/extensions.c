/* Compiles the extensions of SQLite's shell that access only the database (decimal, regexp, series,
 * …) into SQLite and registers them for every connection; registers the checksum VFS when
 * requested. People test their SQL in the shell. The sources are SQLite's (ext/misc/), in one file
 * as in the shell. */
#include "sqlite3ext.h"

int commitpath_extensions(const char *unused);
int commitpath_checksums(void);

#if SQLITE_VERSION_NUMBER >= 3025000

/* SQLite ignores it */
typedef struct sqlite3_api_routines sqlite3_api_routines;

#define SQLITE_CORE 1
#define SQLITE_SHELL_EXTFUNCS 1

#include "base64.c"
#include "base85.c"
#include "decimal.c"
#include "ieee754.c"
#include "regexp.c"
#include "series.c"
#include "shathree.c"
#include "uint.c"

typedef int initializer(sqlite3 *, char **, const sqlite3_api_routines *);

static initializer *const initializers[] = {
	sqlite3_shathree_init, sqlite3_uint_init,   sqlite3_decimal_init, sqlite3_base64_init,
	sqlite3_base85_init,   sqlite3_regexp_init, sqlite3_ieee_init,	  sqlite3_series_init,
};

static int initialize(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	int result = SQLITE_OK;

	for (size_t i = 0; i < sizeof(initializers) / sizeof(initializers[0]); i++)
		if (result == SQLITE_OK)
			result = initializers[i](db, error, api);
	return result;
}

#endif

/* in the releases that have the opcode by which its files find each other */
#ifdef SQLITE_FCNTL_CKSM_FILE
#define SQLITE_CKSUMVFS_STATIC
#define SQLITE_CKSUMVFS_INIT_FUNCNAME "reserve_checksums"
#include "cksumvfs.c"
#endif

/* Makes the checksum VFS the default one, around the default one of now. */
int commitpath_checksums(void)
{
#ifdef SQLITE_FCNTL_CKSM_FILE
	return sqlite3_register_cksumvfs(NULL);
#else
	return SQLITE_NOTFOUND;
#endif
}

/* SQLITE_EXTRA_INIT: called by SQLite once, before anything is opened. Releases before 3.25 lack
 * functions that the extensions call, and get none. */
int commitpath_extensions(const char *unused)
{
#if SQLITE_VERSION_NUMBER >= 3025000
	return sqlite3_auto_extension((void (*)(void))initialize);
#else
	return SQLITE_OK;
#endif
}

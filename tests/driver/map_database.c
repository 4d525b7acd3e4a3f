/* Linked into the driver under test: with COMMITPATH_MMAP set, SQLite maps the
 * database into memory and reads it through the VFS's xFetch. */
#include <stdlib.h>

#include "sqlite3.h"

enum { MAP_BYTES = 1 << 30 };

__attribute__((constructor)) static void map_database(void)
{
	if (getenv("COMMITPATH_MMAP") != NULL &&
	    sqlite3_config(SQLITE_CONFIG_MMAP_SIZE, (sqlite3_int64)MAP_BYTES,
			   (sqlite3_int64)MAP_BYTES) != SQLITE_OK)
		abort();
}

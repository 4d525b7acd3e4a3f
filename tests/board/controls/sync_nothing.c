/* A negative control: SQLite's default VFS, but that every EVERYth xSync of its files does nothing.
 * Linked into a driver of a test's own (tests/board/test_controls.py), where it is in force from
 * the start. */
#include <stddef.h>
#include <stdlib.h>

#include "sqlite3.h"

/* The unix VFS has few kinds of files. */
enum { KINDS = 8 };
#define EVERY 1

static sqlite3_vfs lying, *honest;
static const sqlite3_io_methods *of[KINDS];
static sqlite3_io_methods made[KINDS];
static int (*honest_sync)(sqlite3_file *file, int flags); /* one for all kinds of the unix VFS */

/* The file's methods may be another VFS's by now, the driver's log, which passes calls on to this.
 */
static int sync_nothing(sqlite3_file *file, int flags)
{
	static unsigned int syncs;

	if (++syncs % EVERY == 0)
		return SQLITE_OK;
	return honest_sync(file, flags);
}

/* The methods of a kind of file, but for xSync. */
static const sqlite3_io_methods *without_sync(const sqlite3_io_methods *methods)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (of[i] == NULL) {
			if (honest_sync != NULL && honest_sync != methods->xSync)
				abort();
			honest_sync = methods->xSync;
			of[i] = methods;
			made[i] = *methods;
			made[i].xSync = sync_nothing;
		}
		if (of[i] == methods)
			return &made[i];
	}
	abort();
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	int result = honest->xOpen(honest, name, file, flags, out_flags);

	(void)vfs;
	if (file->pMethods != NULL)
		file->pMethods = without_sync(file->pMethods);
	return result;
}

__attribute__((constructor)) static void be_the_default(void)
{
	honest = sqlite3_vfs_find(NULL);
	if (honest == NULL)
		abort();
	lying = *honest;
	lying.zName = "syncs-nothing";
	lying.xOpen = open_file;
	if (sqlite3_vfs_register(&lying, 1) != SQLITE_OK)
		abort();
}

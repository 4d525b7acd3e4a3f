/* Table of open databases with a log, by their names and their WALs'. */
#include <string.h>

#include "state.h"

static struct ssl *open_databases;

struct ssl *vfs_find(const char *path)
{
	struct ssl *found = NULL;

	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	for (struct ssl *ssl = open_databases; ssl != NULL; ssl = ssl->next)
		if (strcmp(ssl->path, path) == 0 || strcmp(ssl->wal_path, path) == 0)
			found = ssl;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	return found;
}

void vfs_add(struct ssl *ssl)
{
	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	ssl->next = open_databases;
	open_databases = ssl;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}

void vfs_remove(struct ssl *ssl)
{
	struct ssl **link = &open_databases;

	sqlite3_mutex_enter(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
	while (*link != NULL && *link != ssl)
		link = &(*link)->next;
	if (*link != NULL)
		*link = ssl->next;
	sqlite3_mutex_leave(sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1));
}

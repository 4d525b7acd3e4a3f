/* Lists the LevelDB databases that a connection has open, by their folders, and locks each folder.
 *
 * LevelDB locks a folder by its name and for the process. Another name of the folder would be
 * opened a second time, and so would the same name by another copy of this module. A second open of
 * the file LOCK, even one that is refused, releases the lock when it is closed. So the folder
 * itself is locked before LevelDB sees it, by flock(): such a lock belongs to the descriptor.
 */
#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* An open folder keeps its inode: no other folder gets the number. */
static int open_folder(struct store *store, bool create, struct stat *status, char **message)
{
	if (create && mkdir(store->path, 0755) != 0 && errno != EEXIST)
		return kv_fail(message, SQLITE_CANTOPEN, "%s: %s", store->path, strerror(errno));
	store->folder = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->folder < 0 || fstat(store->folder, status) != 0)
		return kv_fail(message,
			       errno == ENOENT || errno == ENOTDIR ? SQLITE_NOTFOUND
								   : SQLITE_CANTOPEN,
			       "%s: %s", store->path, strerror(errno));
	return SQLITE_OK;
}

int registry_add(struct store *store, bool create, struct store **same, char **message)
{
	struct module *module = store->module;
	struct stat status;
	int result = open_folder(store, create, &status, message);

	*same = NULL;
	if (result != SQLITE_OK)
		return result;
	store->device = status.st_dev;
	store->inode = status.st_ino;
	for (struct store *other = module->stores; other != NULL; other = other->next)
		if (other->device == store->device && other->inode == store->inode) {
			*same = other;
			return SQLITE_OK;
		}
	if (flock(store->folder, LOCK_EX | LOCK_NB) != 0)
		return errno == EWOULDBLOCK
			       ? kv_fail(message, SQLITE_BUSY, "%s is in use", store->path)
			       : kv_fail(message, SQLITE_CANTOPEN, "locking %s: %s", store->path,
					 strerror(errno));
	store->locked = true;
	store->next = module->stores;
	module->stores = store;
	return SQLITE_OK;
}

void registry_remove(const struct store *store)
{
	if (store->locked) {
		struct store **link = &store->module->stores;

		while (*link != store)
			link = &(*link)->next;
		*link = store->next;
		/* a child of this process may have the descriptor too */
		flock(store->folder, LOCK_UN);
	}
	if (store->folder >= 0)
		close(store->folder);
}

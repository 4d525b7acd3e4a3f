/* The databases that this process has open, by their folders.
 *
 * LevelDB locks a folder by its name, and for the process. Another name of the folder would be
 * opened a second time; and a second open of the file LOCK, even one that is refused, releases the
 * lock when it is closed. So a database is looked up here before LevelDB sees its folder.
 */
#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct store *open_stores;

/* An open folder keeps its inode: no other folder gets the number. */
static int open_folder(struct store *store, bool create, struct stat *status, char **message)
{
	if (create && mkdir(store->path, 0755) != 0 && errno != EEXIST)
		return kv_fail(message, SQLITE_CANTOPEN, "%s: %s", store->path, strerror(errno));
	store->folder = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->folder < 0 || fstat(store->folder, status) != 0)
		return kv_fail(message, errno == ENOENT ? SQLITE_NOTFOUND : SQLITE_CANTOPEN,
			       "%s: %s", store->path, strerror(errno));
	return SQLITE_OK;
}

int registry_add(struct store *store, bool create, struct store **same, char **message)
{
	struct stat status;
	struct store *other;
	int result = open_folder(store, create, &status, message);

	*same = NULL;
	if (result != SQLITE_OK)
		return result;
	store->device = status.st_dev;
	store->inode = status.st_ino;
	pthread_mutex_lock(&mutex);
	for (other = open_stores; other != NULL; other = other->next)
		if (other->device == store->device && other->inode == store->inode)
			break;
	if (other == NULL) {
		store->next = open_stores;
		open_stores = store;
	} else if (other->module == store->module) {
		*same = other;
	} else {
		result = kv_fail(message, SQLITE_BUSY, "%s is in use", store->path);
	}
	pthread_mutex_unlock(&mutex);
	return result;
}

void registry_remove(const struct store *store)
{
	pthread_mutex_lock(&mutex);
	for (struct store **link = &open_stores; *link != NULL; link = &(*link)->next)
		if (*link == store) {
			*link = store->next;
			break;
		}
	pthread_mutex_unlock(&mutex);
	if (store->folder >= 0)
		close(store->folder);
}

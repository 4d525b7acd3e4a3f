/* Writes several pages to the database atomically and durably, by F2FS's ioctls, or by SQLite's
 * operations for it if a VFS has these; checks whether the filesystem can. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/f2fs.h>

#include "state.h"

enum step { BEGIN, COMMIT, ROLLBACK };

static int step(struct ssl *ssl, enum step which)
{
	static const struct {
		int operation, failed;
		unsigned long request;
	} steps[] = {
		[BEGIN] = {SQLITE_FCNTL_BEGIN_ATOMIC_WRITE, SQLITE_IOERR_BEGIN_ATOMIC,
			   F2FS_IOC_START_ATOMIC_WRITE},
		[COMMIT] = {SQLITE_FCNTL_COMMIT_ATOMIC_WRITE, SQLITE_IOERR_COMMIT_ATOMIC,
			    F2FS_IOC_COMMIT_ATOMIC_WRITE},
		[ROLLBACK] = {SQLITE_FCNTL_ROLLBACK_ATOMIC_WRITE, SQLITE_IOERR_ROLLBACK_ATOMIC,
			      F2FS_IOC_ABORT_ATOMIC_WRITE},
	};
	sqlite3_file *file = ssl->database;
	int result = file->pMethods->xFileControl(file, steps[which].operation, NULL);

	if (result != SQLITE_NOTFOUND)
		return result;
	/* stays open until the database is closed: closing it drops SQLite's locks */
	if (ssl->atomic_fd == 0)
		ssl->atomic_fd = open(ssl->path, O_RDWR | O_CLOEXEC);
	return ssl->atomic_fd > 0 && ioctl(ssl->atomic_fd, steps[which].request) == 0
		       ? SQLITE_OK
		       : steps[which].failed;
}

void atomic_close(struct ssl *ssl)
{
	if (ssl->atomic_fd > 0)
		close(ssl->atomic_fd);
	ssl->atomic_fd = 0;
}

int atomic_check(struct ssl *ssl)
{
	int result = step(ssl, BEGIN);

	if (result == SQLITE_IOERR_BEGIN_ATOMIC)
		error_set(ssl->error, "%s: its filesystem has no atomic writes (%s)", ssl->path,
			  strerror(errno));
	return result == SQLITE_OK ? step(ssl, ROLLBACK) : result;
}

static int write_pages(struct ssl *ssl, const struct walfile *made)
{
	uint8_t *page = sqlite3_malloc64(made->page_size);
	int result = page != NULL ? SQLITE_OK : SQLITE_NOMEM;

	for (uint32_t i = 0; result == SQLITE_OK && i < made->count; i++) {
		const struct wal_page *from = &made->pages[i];

		if (from->frame > 0)
			memcpy(page, ssl->memory.frames[from->frame - 1].page, made->page_size);
		else
			result = file_read(ssl->database, page, made->page_size, 0);
		if (from->number == 1)
			mark_put(page, ssl->log.identity, made->mark);
		if (result == SQLITE_OK)
			result = file_write(ssl->database, page, made->page_size,
					    (int64_t)(from->number - 1) * made->page_size);
		ssl->stats.database_pages++;
	}
	sqlite3_free(page);
	return result;
}

int atomic_write(struct ssl *ssl, const struct walfile *made)
{
	int result;

	TRY(step(ssl, BEGIN));
	result = write_pages(ssl, made);
	if (result != SQLITE_OK) {
		step(ssl, ROLLBACK);
		return result;
	}
	ssl->stats.database_syncs++;
	return step(ssl, COMMIT);
}

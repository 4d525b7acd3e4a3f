#include "populate.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "database.h"
#include "fail.h"
#include "workload.h"

static char partial_path[PATH_MAX];

static void remove_partial(void)
{
	unlink(partial_path);
}

static void sync_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		fail("syncing %s: %s", path, strerror(errno));
	close(fd);
}

static void fill(const struct options *options)
{
	const struct workload *workload = workload_at((size_t)options->workload);
	char sql[64];
	sqlite3 *db;

	db = database_open(partial_path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
	snprintf(sql, sizeof(sql), "PRAGMA page_size=%" PRId64, options->page_size);
	database_run(db, sql);
	/* A crash loses the whole file anyway: it has no name yet. */
	database_run(db, "PRAGMA journal_mode=off");
	database_run(db, "PRAGMA synchronous=off");
	database_run(db, "BEGIN");
	workload->populate(db, options);
	database_run(db, "COMMIT");
	if (database_number(db, "PRAGMA page_size") != options->page_size)
		fail("page_size: SQLite did not take %" PRId64, options->page_size);
	database_close(db);
}

void populate(const struct options *options)
{
	char folder[PATH_MAX];
	int length = snprintf(partial_path, sizeof(partial_path), "%s.partial", options->database);

	workload_check_value_size(options);
	if (length < 0 || (size_t)length >= sizeof(partial_path))
		fail("the path of the database is too long");
	if (access(options->database, F_OK) == 0)
		fail("%s exists already", options->database);
	unlink(partial_path);
	atexit(remove_partial);
	fill(options);
	sync_path(partial_path);
	if (rename(partial_path, options->database) != 0)
		fail("renaming %s: %s", partial_path, strerror(errno));
	snprintf(folder, sizeof(folder), "%s", options->database);
	sync_path(dirname(folder));
}

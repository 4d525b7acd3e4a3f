#include "creation.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool creation_begin(struct database *database, int64_t page_size, struct error *error)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA page_size=%" PRId64, page_size);
	/* A crash loses the whole file anyway: it has no name yet. */
	return sql_run(database->db, sql, error) &&
	       sql_run(database->db, "PRAGMA journal_mode=off", error) &&
	       sql_run(database->db, "PRAGMA synchronous=off", error) &&
	       sql_run(database->db, "BEGIN", error);
}

bool creation_end(struct database *database, int64_t page_size, struct error *error)
{
	int64_t had;

	sqlite3_finalize(database->insert);
	if (!sql_run(database->db, "COMMIT", error) ||
	    !sql_number(database->db, "PRAGMA page_size", &had, error))
		return false;
	return had == page_size ||
	       error_set(error, "page_size: SQLite did not take %" PRId64, page_size);
}

bool creation_sync(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool synced = fd >= 0 && fsync(fd) == 0;

	if (!synced)
		error_set(error, "syncing %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return synced;
}

bool creation_tables(struct database *database, int (*run)(struct database *, const char *),
		     struct error *error)
{
	const struct table *table = database->workload->table;

	for (size_t i = 0; table->create[i] != NULL; i++) {
		const char *sql = table->create[i];

		if (table->databases != NULL && table->databases[i] != database->number)
			continue;
		if (run(database, sql) == SQLITE_OK)
			continue;
		if (table->lines == NULL)
			return sql_error(database->db, "execution", sql, error);
		sql_error(database->db, "execution", NULL, error);
		return sql_error_at(sql, table->lines[i], sql, error);
	}
	return true;
}

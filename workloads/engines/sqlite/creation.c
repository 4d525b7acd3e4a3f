/* Makes and removes SQLite databases: creates a file with its tables in one transaction without
 * journal and syncs (ENGINE_CREATE), makes it durable when closed; allocates struct database. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hooks.h"
#include "log.h"
#include "sql.h"

struct database *database_make(const char *path, size_t number, const struct options *options,
			       const struct workload *workload, enum engine_use use,
			       struct error *error)
{
	struct database *database = calloc(1, sizeof(*database));

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->path = path;
	database->number = number;
	database->options = options;
	database->workload = workload;
	database->use = use;
	log_database(path, number);
	return database;
}

void database_free(struct database *database)
{
	free(database->buffer);
	free(database);
}

bool sqlite_remove(const char *path, struct error *error)
{
	return unlink(path) == 0 || errno == ENOENT ||
	       error_set(error, "removing %s: %s", path, strerror(errno));
}

int64_t database_file_size(const char *path, const char *suffix)
{
	char name[PATH_MAX];
	struct stat status;

	snprintf(name, sizeof(name), "%s%s", path, suffix);
	return stat(name, &status) == 0 ? status.st_size : 0;
}

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

static bool sync_file(const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool synced = fd >= 0 && fsync(fd) == 0;

	if (!synced)
		error_set(error, "syncing %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return synced;
}

bool database_close(struct database *database, struct error *error)
{
	if (sqlite3_close(database->db) != SQLITE_OK)
		return sql_error(database->db, "close", "the database", error);
	database->db = NULL;
	return database->use != ENGINE_CREATE || sync_file(database->path, error);
}

bool sqlite_create_tables(struct database *database, struct error *error)
{
	const struct table *table = database->workload->table;

	for (size_t i = 0; table->create[i] != NULL; i++) {
		const char *sql = table->create[i];

		if (table->databases != NULL && table->databases[i] != database->number)
			continue;
		if (database_run(database, sql) == SQLITE_OK)
			continue;
		if (table->lines == NULL)
			return sql_error(database->db, "execution", sql, error);
		sql_error(database->db, "execution", NULL, error);
		return sql_error_at(sql, table->lines[i], sql, error);
	}
	return true;
}

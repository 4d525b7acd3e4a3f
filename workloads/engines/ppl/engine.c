/* SQLite/PPL as an engine of the driver: engines/ssl/driver.c has what is not its own, and a
 * transaction is executed as by SQLite (engines/sqlite/execute.c). */
#include "engine.h"

#include "driver.h"

const char engine_name[] = "ppl";

const char driver_title[] = "SQLite/PPL";
const struct driver_file driver_files[] = {
	{"database", ""}, {"wal", "-wal"}, {"merge", "-merge"}, {"pages", "-ppl"}};
const size_t driver_file_count = sizeof(driver_files) / sizeof(driver_files[0]);

int driver_run(struct database *database, const char *sql)
{
	return sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

bool driver_execute(struct database *database, struct error *error)
{
	return sql_execute(database, error);
}

/* Its calls are not logged. */
const char *const engine_file_roles[] = {NULL};
const struct ssl_observer *const driver_observer = NULL;

bool engine_log_prepare(size_t transactions, struct error *error)
{
	(void)transactions;
	return error_set(error, "--vfs-log, --written: %s has no log of its calls", engine_title());
}

void engine_log_begin(void)
{
}

void engine_log_end(void)
{
}

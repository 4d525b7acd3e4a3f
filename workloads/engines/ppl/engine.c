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

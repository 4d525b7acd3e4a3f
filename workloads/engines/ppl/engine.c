/* Names, file suffixes and file roles of the engine SQLite/PPL, a SQLite that logs page changes.
 * The hooks are those shared with SQLite/SSL (engines/ssl/driver.c). */
#include "engine.h"

#include "driver.h"
#include "hooks.h"
#include "log.h"

const char driver_name[] = "ppl", driver_product[] = "SQLite/PPL";
const struct driver_file driver_files[] = {
	{"database", ""}, {"wal", "-wal"}, {"merge", "-merge"}, {"pages", "-ppl"}};
const size_t driver_file_count = sizeof(driver_files) / sizeof(driver_files[0]);

const char *const driver_file_roles[] = {
	SQLITE_FILE_ROLES, [ROLE_OWN] = "pages", [ROLE_OWN_WAL] = "merge"};
const struct log_engine log_engine = {"-ppl", "-merge", true};

int database_run(struct database *database, const char *sql)
{
	return sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

bool driver_execute(struct database *database, struct outcome *outcome, struct error *error)
{
	return sql_execute(database, sql_execute_one, outcome, error);
}

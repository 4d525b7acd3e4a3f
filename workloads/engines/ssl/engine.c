/* Names and file roles of the engine SQLite/SSL, and how it executes a transaction: by the calls
 * of ssl.h, which log statements. The hooks are in driver.c. */
#include "engine.h"

#include "driver.h"
#include "hooks.h"
#include "log.h"
#include "sql.h"

const char driver_name[] = "ssl", driver_product[] = "SQLite/SSL";
const struct driver_file driver_files[] = {
	{"database", ""}, {"wal", "-wal"}, {"statements", "-sla"}};
const size_t driver_file_count = sizeof(driver_files) / sizeof(driver_files[0]);

const char *const driver_file_roles[] = {SQLITE_FILE_ROLES, [ROLE_OWN] = "statements"};
const struct log_engine log_engine = {"-sla", NULL, true};

int database_run(struct database *database, const char *sql)
{
	return database->own != NULL ? ssl_exec(database->own, sql)
				     : sqlite3_exec(database->db, sql, NULL, NULL, NULL);
}

/* Executes one statement with prepare, step and finalize. `text` advances to its end. */
static bool execute_one(struct database *database, const char **text, size_t length,
			struct outcome *outcome, struct error *error)
{
	struct ssl_stmt *statement;
	int result = ssl_prepare(database->own, *text, (int)length, &statement, text);

	if (result != SQLITE_OK)
		return sql_error(database->db, "prepare", NULL, error);
	if (statement == NULL)
		return true;
	while ((result = ssl_step(statement)) == SQLITE_ROW)
		sql_count_row(ssl_statement(statement), outcome);
	if (result != SQLITE_DONE) {
		sql_error(database->db, "step", NULL, error);
		ssl_finalize(statement);
		return false;
	}
	return ssl_finalize(statement) == SQLITE_OK ||
	       sql_error(database->db, "finalize", NULL, error);
}

bool driver_execute(struct database *database, struct outcome *outcome, struct error *error)
{
	return sql_execute(database, execute_one, outcome, error);
}

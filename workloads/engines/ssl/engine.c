/* The engine SQLite/SSL in the driver: its names, file roles and option table (in addition to the
 * options of any log), and how it executes a transaction: by the calls of ssl.h, which log
 * statements. The hooks are in driver.c. */
#include "engine.h"

#include "driver.h"
#include "hooks.h"
#include "log.h"
#include "log_settings.h"
#include "sql.h"

const char driver_name[] = "ssl", driver_product[] = "SQLite/SSL";
const struct driver_file driver_files[] = {
	{"database", ""}, {"wal", "-wal"}, {"statements", "-sla"}};
const size_t driver_file_count = sizeof(driver_files) / sizeof(driver_files[0]);

const char *const driver_file_roles[] = {SQLITE_FILE_ROLES, [ROLE_OWN] = "statements"};
const struct log_engine log_engine = {"-sla", NULL, true};

/* Indexes in engine.settings, after those of driver.h. */
enum { LOG_FULL = DRIVER_SETTINGS, NOT_REPEATABLE, SYNCHRONOUS, CHECKPOINT_WRITE, RECOVERY_RULE };

/* In the order of enum ssl_policy. */
static const char *const policies[] = {"capture", "checkpoint", NULL};

/* In the order of enum ssl_synchronous. */
static const char *const levels[] = {"full", "normal", NULL};

static const char *const writes[] = {"wal", "atomic", NULL};

/* In the order of enum ssl_recovery. */
static const char *const rules[] = {"ids", "paper", NULL};

const struct option driver_settings[] = {
	LOG_SETTINGS,
	{SETTING("log-full", "log_full", LOG_FULL), INTEGER("PERCENT", 1, 100), .preset = "70",
	 .help = "per cent of the log from which on a commit makes a checkpoint"},
	{SETTING("not-repeatable", "not_repeatable", NOT_REPEATABLE), WORD("POLICY", policies),
	 .preset = "capture", .help = "what becomes of time and random numbers"},
	{SETTING("synchronous", "synchronous", SYNCHRONOUS), WORD("LEVEL", levels),
	 .preset = "full",
	 .help = "whether the log is synced at each commit, or at checkpoints alone"},
	{SETTING("checkpoint-write", "checkpoint_write", CHECKPOINT_WRITE), WORD("WAY", writes),
	 .preset = "wal",
	 .help = "a checkpoint's pages: to the WAL and to the database, or once by atomic writes"},
	{SETTING("recovery-rule", "recovery_rule", RECOVERY_RULE), WORD("RULE", rules),
	 .preset = "ids",
	 .help = "what a recovery goes by: ids, or the study's table alone, which fails"},
	{.name = NULL},
};

void driver_own_options(const struct options *options, struct ssl_options *made)
{
	made->full = options->settings[LOG_FULL];
	made->policy = (enum ssl_policy)options->settings[NOT_REPEATABLE];
	made->atomic = options->settings[CHECKPOINT_WRITE] == 1;
	made->recovery = (enum ssl_recovery)options->settings[RECOVERY_RULE];
	made->synchronous = (enum ssl_synchronous)options->settings[SYNCHRONOUS];
}

void driver_write_own(struct json *json, const struct ssl_stats *stats)
{
}

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

/* The option table of the engine SQLite/SSL (when a checkpoint is made, time and random numbers,
 * syncs), in addition to the options of any log. */
#include "driver.h"
#include "log_settings.h"

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

#include "settings.h"

#include "log_settings.h"

/* In the order of enum ssl_policy. */
static const char *const policies[] = {"capture", "checkpoint", NULL};

/* In the order of enum ssl_synchronous. */
static const char *const levels[] = {"full", "normal", NULL};

static const char *const writes[] = {"wal", "atomic", NULL};

/* In the order of enum ssl_recovery. */
static const char *const rules[] = {"ids", "paper", NULL};

const struct option driver_settings[] = {
	LOG_SETTINGS,
	{.name = "log-full",
	 .key = "log_full",
	 .argument = "PERCENT",
	 SETTING(LOG_FULL),
	 .help = "per cent of the log from which on a commit makes a checkpoint",
	 INTEGER(1, 100),
	 .preset = "70",
	 .commands = COMMAND_RUN},
	{.name = "not-repeatable",
	 .key = "not_repeatable",
	 .argument = "POLICY",
	 SETTING(NOT_REPEATABLE),
	 .help = "what becomes of time and random numbers",
	 WORD(policies),
	 .preset = "capture",
	 .commands = COMMAND_RUN},
	{.name = "synchronous",
	 .key = "synchronous",
	 .argument = "LEVEL",
	 SETTING(SYNCHRONOUS),
	 .help = "whether the log is synced at each commit, or at checkpoints alone",
	 WORD(levels),
	 .preset = "full",
	 .commands = COMMAND_RUN},
	{.name = "checkpoint-write",
	 .key = "checkpoint_write",
	 .argument = "WAY",
	 SETTING(CHECKPOINT_WRITE),
	 .help = "a checkpoint's pages: to the WAL and to the database, or once by atomic writes",
	 WORD(writes),
	 .preset = "wal",
	 .commands = COMMAND_RUN},
	{.name = "recovery-rule",
	 .key = "recovery_rule",
	 .argument = "RULE",
	 SETTING(RECOVERY_RULE),
	 .help = "what a recovery goes by: ids, or the study's table alone, which fails",
	 WORD(rules),
	 .preset = "ids",
	 .commands = COMMAND_RUN},
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

void driver_write_properties(struct json *json, size_t number)
{
	driver_write_begin(json, number);
	driver_write_end(json, number);
}

#include "settings.h"

#include <inttypes.h>
#include <stdio.h>

#include "medium.h"
#include "page_settings.h"
#include "properties.h"
#include "sql.h"

/* In the order of enum ssl_medium and ssl_policy. */
static const char *const media[] = {"fdatasync", "msync", "pcm", NULL};
static const char *const policies[] = {"capture", "checkpoint", NULL};

const struct option engine_settings[] = {
	PAGE_SIZE_SETTING,
	CACHE_SIZE_SETTING,
	{.name = "log-size",
	 .key = "log_size",
	 .argument = "BYTES",
	 SETTING(LOG_SIZE),
	 .help = "size of the statement log",
	 INTEGER(4096, 1 << 30),
	 .preset = "1048576",
	 .commands = COMMAND_RUN},
	{.name = "log-full",
	 .key = "log_full",
	 .argument = "PERCENT",
	 SETTING(LOG_FULL),
	 .help = "per cent of the log from which on a commit makes a checkpoint",
	 INTEGER(1, 100),
	 .preset = "70",
	 .commands = COMMAND_RUN},
	{.name = "dirty-pages",
	 .key = "dirty_pages",
	 .argument = "PAGES",
	 SETTING(DIRTY_PAGES),
	 .help = "more pages than these make a commit a checkpoint; 0: any number",
	 INTEGER(0, INT32_MAX),
	 .preset = "1024",
	 .commands = COMMAND_RUN},
	{.name = "log-medium",
	 .key = "log_medium",
	 .argument = "MEDIUM",
	 SETTING(LOG_MEDIUM),
	 .help = "how a record is made durable",
	 WORD(media),
	 .preset = "fdatasync",
	 .commands = COMMAND_RUN},
	{.name = "pcm-line",
	 .key = "pcm_line",
	 .argument = "BYTES",
	 SETTING(PCM_LINE),
	 .help = "what persistent memory is written by; a power of two",
	 INTEGER(4, 4096),
	 .power_of_two = true,
	 .preset = "64",
	 .commands = COMMAND_RUN},
	{.name = "pcm-write-ns",
	 .key = "pcm_write_ns",
	 .argument = "NS",
	 SETTING(PCM_WRITE_NS),
	 .help = "what each such line takes",
	 INTEGER(0, 1000000),
	 .preset = "7500",
	 .commands = COMMAND_RUN},
	{.name = "not-repeatable",
	 .key = "not_repeatable",
	 .argument = "POLICY",
	 SETTING(NOT_REPEATABLE),
	 .help = "what becomes of time and random numbers",
	 WORD(policies),
	 .preset = "capture",
	 .commands = COMMAND_RUN},
};
const size_t engine_setting_count = sizeof(engine_settings) / sizeof(engine_settings[0]);

static struct ssl_stats kept;
static bool is_persistent; /* as far as the log's mapping tells */

struct ssl_options settings_options(const struct options *options)
{
	struct ssl_options made;

	ssl_defaults(&made);
	made.log_size = options->settings[LOG_SIZE];
	made.full = options->settings[LOG_FULL];
	made.dirty = options->settings[DIRTY_PAGES];
	made.medium = (enum ssl_medium)options->settings[LOG_MEDIUM];
	made.line = options->settings[PCM_LINE];
	made.write_ns = options->settings[PCM_WRITE_NS];
	if (made.medium == SSL_PCM)
		made.log_folder = options->persistent;
	made.policy = (enum ssl_policy)options->settings[NOT_REPEATABLE];
	return made;
}

/* The page size and the cache's are SQLite's word; it is told the rest, and cannot be asked. */
bool engine_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	const struct option *option = &engine_settings[index];
	char sql[64];
	bool found;

	if (index == LOG_MEDIUM && database->options->settings[LOG_MEDIUM] == SSL_PCM &&
	    !is_persistent) {
		snprintf(answer, size, "pcm without MAP_SYNC");
		return true;
	}
	if (index != PAGE_SIZE && index != CACHE_SIZE) {
		char value[24];

		snprintf(answer, size, "%s",
			 option_value_text(option, database->options, value, sizeof(value)));
		return true;
	}
	snprintf(sql, sizeof(sql), "PRAGMA %s", option->key);
	return sql_text(database->db, sql, answer, size, &found, error) &&
	       (found || error_set(error, "%s: no answer", sql));
}

/* Once: to ask the kernel takes too long for what is measured. */
void settings_look(const struct ssl *ssl)
{
	is_persistent = medium_is_synchronous(ssl);
}

void settings_keep(const struct ssl_stats *stats)
{
	kept = *stats;
}

static void write_number(struct json *json, const char *key, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	json_text(json, key, text);
}

void engine_write_properties(struct json *json)
{
	json_begin(json, "properties", '{');
	properties_write(json);
	for (int i = SSL_LOGGED + 1; i < SSL_REASONS; i++)
		if (kept.checkpoints[i] > 0) {
			char key[64];

			snprintf(key, sizeof(key), "checkpoints: %s", ssl_reasons[i]);
			write_number(json, key, kept.checkpoints[i]);
		}
	write_number(json, "transactions", kept.transactions);
	write_number(json, "logged transactions", kept.logged);
	write_number(json, "log bytes", kept.log_bytes);
	write_number(json, "log syncs", kept.log_syncs);
	write_number(json, "WAL pages", kept.wal_pages);
	write_number(json, "WAL syncs", kept.wal_syncs);
	write_number(json, "database pages", kept.database_pages);
	write_number(json, "database syncs", kept.database_syncs);
	write_number(json, "dirty pages of checkpoints", kept.dirty_pages);
	write_number(json, "most dirty pages of one", kept.dirty_most);
	write_number(json, "time of checkpoints, ns", kept.checkpoint_ns);
	write_number(json, "longest checkpoint, ns", kept.checkpoint_longest_ns);
	json_text(json, "recovery", ssl_cases[kept.found]);
	write_number(json, "transactions executed again", kept.replayed);
	write_number(json, "memory peak", kept.memory_peak);
	if (kept.log_lines > 0) {
		write_number(json, "PCM lines", kept.log_lines);
		write_number(json, "PCM bytes", kept.pcm_bytes);
		write_number(json, "PCM ns", kept.pcm_ns);
		json_text(json, "PCM lines cleaned by", medium_clean());
	}
	json_end(json, '}');
	/* apart, as no two runs have it to the nanosecond */
	if (kept.log_lines > 0)
		json_number(json, "persistent_waited_ns", kept.pcm_waited_ns);
}

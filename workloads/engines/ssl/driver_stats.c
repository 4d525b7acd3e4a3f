/* Keeps the log's statistics (ssl_stats) of each database when it is closed, adds them up, and
 * writes them to config.json. */
#include <inttypes.h>
#include <stdio.h>

#include "driver.h"
#include "state.h"

static struct ssl_stats kept[MAX_DATABASES];
static size_t kept_count;

void driver_keep(size_t number, struct ssl_stats stats)
{
	kept[number] = stats;
	if (number >= kept_count)
		kept_count = number + 1;
}

static int64_t larger(int64_t left, int64_t right)
{
	return left > right ? left : right;
}

/* Members before `found` are numbers of 64 bits. */
static void add(struct ssl_stats *sum, const struct ssl_stats *stats)
{
	struct ssl_stats before = *sum;
	const int64_t *from = &stats->transactions;
	int64_t *to = &sum->transactions;

	for (size_t i = 0; i < offsetof(struct ssl_stats, found) / sizeof(*to); i++)
		to[i] += from[i];
	sum->dirty_most = larger(before.dirty_most, stats->dirty_most);
	sum->checkpoint_longest_ns =
		larger(before.checkpoint_longest_ns, stats->checkpoint_longest_ns);
	/* the first that had to recover sets it for all */
	if (sum->found <= SSL_NEW)
		sum->found = stats->found;
}

/* Returns those of a database; of ALL_DATABASES the sum, or the largest of maxima. */
static struct ssl_stats stats_of(size_t number)
{
	struct ssl_stats sum = kept[0];

	if (number != ALL_DATABASES)
		return kept[number];
	for (size_t i = 1; i < kept_count; i++)
		add(&sum, &kept[i]);
	return sum;
}

void driver_write_number(struct json *json, const char *key, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	json_text(json, key, text);
}

void driver_write_properties(struct json *json, size_t number)
{
	struct ssl_stats stats = stats_of(number);

	json_begin(json, "properties", '{');
	sqlite_write_pragmas(json, number);
	for (int i = SSL_NO_REASON + 1; i < SSL_REASONS; i++)
		if (stats.checkpoints[i] > 0) {
			char key[64];

			snprintf(key, sizeof(key), "checkpoints: %s", ssl_reasons[i]);
			driver_write_number(json, key, stats.checkpoints[i]);
		}
	driver_write_number(json, "transactions", stats.transactions);
	driver_write_number(json, "logged transactions", stats.logged);
	driver_write_number(json, "log bytes", stats.log_bytes);
	driver_write_number(json, "log syncs", stats.log_syncs);
	driver_write_number(json, "WAL pages", stats.wal_pages);
	driver_write_number(json, "WAL syncs", stats.wal_syncs);
	driver_write_number(json, "database pages", stats.database_pages);
	driver_write_number(json, "database syncs", stats.database_syncs);
	driver_write_number(json, "dirty pages of checkpoints", stats.dirty_pages);
	driver_write_number(json, "most dirty pages of one", stats.dirty_most);
	driver_write_number(json, "time of checkpoints, ns", stats.checkpoint_ns);
	driver_write_number(json, "longest checkpoint, ns", stats.checkpoint_longest_ns);
	json_text(json, "recovery", ssl_cases[stats.found]);
	driver_write_number(json, "transactions executed again", stats.replayed);
	driver_write_number(json, "memory peak", stats.memory_peak);
	if (stats.log_lines > 0) {
		driver_write_number(json, "PCM lines", stats.log_lines);
		driver_write_number(json, "PCM bytes", stats.pcm_bytes);
		driver_write_number(json, "PCM ns", stats.pcm_ns);
		json_text(json, "PCM lines cleaned by", medium_clean());
	}
	driver_write_own(json, &stats);
	json_end(json, '}');
	/* separate, as it differs between runs by nanoseconds */
	if (stats.log_lines > 0)
		json_number(json, "persistent_waited_ns", stats.pcm_waited_ns);
}

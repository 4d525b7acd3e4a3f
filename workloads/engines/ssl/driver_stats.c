/* Keeps the log's statistics (ssl_stats) of each database when it is closed, adds them up, and
 * writes them to config.json. */
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

void driver_write_properties(struct json *json, size_t number)
{
	struct ssl_stats stats = stats_of(number);

	json_begin(json, "properties", '{');
	sqlite_write_pragmas(json, number);
	for (int i = SSL_NO_REASON + 1; i < SSL_REASONS; i++)
		if (stats.checkpoints[i] > 0) {
			char key[64];

			snprintf(key, sizeof(key), "checkpoints: %s", ssl_reasons[i]);
			json_digits(json, key, stats.checkpoints[i]);
		}
	json_digits(json, "transactions", stats.transactions);
	json_digits(json, "logged transactions", stats.logged);
	json_digits(json, "log bytes", stats.log_bytes);
	json_digits(json, "log syncs", stats.log_syncs);
	json_digits(json, "WAL pages", stats.wal_pages);
	json_digits(json, "WAL syncs", stats.wal_syncs);
	json_digits(json, "database pages", stats.database_pages);
	json_digits(json, "database syncs", stats.database_syncs);
	json_digits(json, "dirty pages of checkpoints", stats.dirty_pages);
	json_digits(json, "most dirty pages of one", stats.dirty_most);
	json_digits(json, "time of checkpoints, ns", stats.checkpoint_ns);
	json_digits(json, "longest checkpoint, ns", stats.checkpoint_longest_ns);
	json_text(json, "recovery", ssl_cases[stats.found]);
	json_digits(json, "transactions executed again", stats.replayed);
	json_digits(json, "memory peak", stats.memory_peak);
	if (stats.log_lines > 0) {
		json_digits(json, "PCM lines", stats.log_lines);
		json_digits(json, "PCM bytes", stats.pcm_bytes);
		json_digits(json, "PCM ns", stats.pcm_ns);
		json_text(json, "PCM lines cleaned by", medium_clean());
	}
	driver_write_own(json, &stats);
	json_end(json, '}');
	/* separate, as it differs between runs by nanoseconds */
	if (stats.log_lines > 0)
		json_number(json, "persistent_waited_ns", stats.pcm_waited_ns);
}

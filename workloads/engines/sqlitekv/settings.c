/* The driver's part: settings, and what was in effect. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "leveldb/index_blocks.h"

static const char *const sync_levels[] = {"off", "full", NULL};
static const char *const forms[] = {"table", "direct", NULL};

const struct option kv_settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "WriteOptions::sync: whether a commit is synced before it returns"},
	{SETTING("query-cache", "query_cache", QUERY_CACHE), INTEGER("BYTES", 0, INT32_MAX),
	 .preset = "0", .help = "query cache; 0: none"},
	{SETTING("form", "form", FORM), WORD("FORM", forms), .preset = "table",
	 .help = "direct: an INSERT does not look for its key, as in the study"},
	{SETTING("index-blocks", "index_blocks", INDEX_BLOCKS), WORD("TABLES", index_blocks),
	 .preset = "all", .help = "which tables keep their index block in memory"},
	{.name = NULL},
};

static const char *const properties[] = {
	"num-files-at-level0", "num-files-at-level1", "num-files-at-level2", "num-files-at-level3",
	"num-files-at-level4", "num-files-at-level5", "num-files-at-level6",
};
enum { PROPERTIES = sizeof(properties) / sizeof(properties[0]) };
static char property_values[MAX_DATABASES][PROPERTIES][24];

static struct cache_counts counts[MAX_DATABASES];
static size_t databases;

bool kv_read_setting(struct database *database, size_t index, char *answer, size_t size,
		     struct error *error)
{
	const struct kv_database *own = database->own;

	(void)error;
	if (index == SYNC)
		snprintf(answer, size, "%s", sync_levels[own->store->sync]);
	else if (index == QUERY_CACHE)
		snprintf(answer, size, "%" PRId64, own->store->cache_size);
	else if (index == INDEX_BLOCKS)
		index_blocks_read(own->store->db, answer, size);
	else
		snprintf(answer, size, "%s", forms[database->options->settings[FORM]]);
	return true;
}

bool kv_read_properties(struct database *database, struct error *error)
{
	const struct kv_database *own = database->own;
	char(*values)[24] = property_values[database->number];

	for (size_t i = 0; i < PROPERTIES; i++) {
		char name[64], *value;

		snprintf(name, sizeof(name), "leveldb.%s", properties[i]);
		value = leveldb_property_value(own->store->db, name);
		if (value == NULL)
			return error_set(error, "LevelDB has no property %s", name);
		snprintf(values[i], sizeof(values[i]), "%s", value);
		leveldb_free(value);
	}
	return true;
}

void kv_keep_counts(size_t number, const struct cache *cache)
{
	if (cache != NULL)
		counts[number] = cache_counts(cache);
	if (number >= databases)
		databases = number + 1;
}

static void write_count(struct json *json, const char *name, int64_t count)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, count);
	json_text(json, name, text);
}

void kv_write_properties(struct json *json, size_t number)
{
	char(*values)[24] = property_values[number == ALL_DATABASES ? 0 : number];
	struct cache_counts sum = {0};
	char release[24];

	for (size_t i = 0; i < databases; i++)
		if (number == ALL_DATABASES || number == i) {
			sum.hits += counts[i].hits;
			sum.misses += counts[i].misses;
			sum.evicted += counts[i].evicted;
		}
	snprintf(release, sizeof(release), "%d.%d", leveldb_major_version(),
		 leveldb_minor_version());
	json_begin(json, "properties", '{');
	json_text(json, "leveldb", release);
	json_text(json, "compression", "none");
	for (size_t i = 0; i < PROPERTIES; i++)
		json_text(json, properties[i], values[i]);
	write_count(json, "cache hits", sum.hits);
	write_count(json, "cache misses", sum.misses);
	write_count(json, "cache evictions", sum.evicted);
	json_end(json, '}');
}

void kv_write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", sqlite3_libversion());
	json_text(json, "source_id", sqlite3_sourceid());
	json_end(json, '}');
}

/* The option table of the engine sqlitekv, and what it reports in config.json: effective settings,
 * LevelDB's tables on each level, hits and misses of the query cache. */
#include <inttypes.h>
#include <stdio.h>

#include "database.h"
#include "leveldb/index_blocks.h"

static const char *const sync_levels[] = {"off", "full", NULL};
static const char *const places[] = {"module", "compiler", NULL};
static const char *const forms[] = {"table", "direct", NULL};

const struct option kv_settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "WriteOptions::sync: whether a commit is synced before it returns"},
	{SETTING("query-cache", "query_cache", QUERY_CACHE), INTEGER("BYTES", 0, INT32_MAX),
	 .preset = "0", .help = "query cache; 0: none"},
	{SETTING("query-cache-place", "query_cache_place", QUERY_CACHE_PLACE),
	 WORD("PLACE", places), .preset = "module",
	 .help = "compiler: a row by its key is looked up before its statement is compiled, too"},
	{SETTING("form", "form", FORM), WORD("FORM", forms), .preset = "table",
	 .help = "direct: an INSERT does not look for its key, as in the study"},
	{SETTING("index-blocks", "index_blocks", INDEX_BLOCKS), WORD("TABLES", index_blocks),
	 .preset = "all", .help = "which tables keep their index block in memory"},
	{.name = NULL},
};

static struct levels levels[MAX_DATABASES];
static struct cache_counts counts[MAX_DATABASES];
static size_t databases;

bool kv_read_setting(struct database *database, size_t index, char *answer, size_t size,
		     struct error *error)
{
	const struct kv_database *own = database->own;

	if (index == SYNC)
		snprintf(answer, size, "%s", sync_levels[own->store->sync]);
	else if (index == QUERY_CACHE)
		snprintf(answer, size, "%" PRId64, own->store->cache_size);
	else if (index == QUERY_CACHE_PLACE)
		snprintf(answer, size, "%s", places[own->before_compiler]);
	else if (index == INDEX_BLOCKS)
		index_blocks_read(own->store->db, answer, size);
	else
		snprintf(answer, size, "%s", forms[database->options->settings[FORM]]);
	return true;
}

bool kv_read_properties(struct database *database, struct error *error)
{
	const struct kv_database *own = database->own;

	return levels_read(own->store->db, &levels[database->number], error);
}

void kv_keep_counts(size_t number, const struct cache *cache)
{
	if (cache != NULL)
		counts[number] = cache_counts(cache);
	if (number >= databases)
		databases = number + 1;
}

void kv_write_properties(struct json *json, size_t number)
{
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
	levels_write(json, &levels[number == ALL_DATABASES ? 0 : number]);
	json_digits(json, "cache hits", sum.hits);
	json_digits(json, "cache misses", sum.misses);
	json_digits(json, "cache evictions", sum.evicted);
	json_end(json, '}');
}

void kv_write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", sqlite3_libversion());
	json_text(json, "source_id", sqlite3_sourceid());
	json_end(json, '}');
}

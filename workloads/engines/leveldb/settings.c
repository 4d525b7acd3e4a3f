/* The option table of the engine leveldb (sync, buffer and table sizes, caches, filters), and what
 * it reports in config.json: version, effective settings, tables on each level. */
#include <stdio.h>
#include <string.h>

#include "database.h"
#include "leveldb/index_blocks.h"

static const char *const sync_levels[] = {"off", "full", NULL};
static const char *const backgrounds[] = {[INLINE] = "inline", [THREAD] = "thread", NULL};

/* Numbers are LevelDB's defaults; outside these ranges it takes the nearest (db_impl.cc,
 * SanitizeOptions). */
const struct option settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "WriteOptions::sync: whether a write is synced before it returns"},
	{SETTING("sync-every", "sync_every", SYNC_EVERY), INTEGER("N", 1, 1000000), .preset = "1",
	 .help = "with --sync full, each Nth transaction that writes is synced"},
	{SETTING("background", "background", BACKGROUND), WORD("WHERE", backgrounds),
	 .preset = "inline",
	 .help = "who does flushes and compactions: the caller at the end of a call, or a thread"},
	{SETTING("write-buffer-size", "write_buffer_size", WRITE_BUFFER_SIZE),
	 INTEGER("BYTES", 65536, 1073741824), .preset = "4194304", .at_populate = true,
	 .help = "memory for rows until they become a table"},
	{SETTING("max-file-size", "max_file_size", MAX_FILE_SIZE),
	 INTEGER("BYTES", 1048576, 1073741824), .preset = "2097152", .at_populate = true,
	 .help = "size at which a compaction begins another table"},
	{SETTING("block-cache", "block_cache", BLOCK_CACHE), INTEGER("BYTES", 0, 1073741824),
	 .preset = "8388608", .help = "memory for blocks of tables"},
	{SETTING("bloom-bits", "bloom_bits", BLOOM_BITS), INTEGER("BITS", 0, 64), .preset = "0",
	 .at_populate = true, .help = "bits a key in the filters of tables; 0: no filters"},
	{SETTING("index-blocks", "index_blocks", INDEX_BLOCKS), WORD("TABLES", index_blocks),
	 .preset = "all", .help = "which tables keep their index block in memory"},
	{.name = NULL},
};

static struct levels levels;

const char *settings_title(void)
{
	static char title[64];

	snprintf(title, sizeof(title), "LevelDB %d.%d", leveldb_major_version(),
		 leveldb_minor_version());
	return title;
}

void settings_write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", strchr(settings_title(), ' ') + 1);
	json_end(json, '}');
}

/* LevelDB has no call that reports an option; the patched one reports its own. */
bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error)
{
	if (index == INDEX_BLOCKS)
		index_blocks_read(database->db, answer, size);
	else
		snprintf(answer, size, "%s",
			 index == BACKGROUND ? backgrounds[database->background] : NOT_REPORTED);
	return true;
}

bool settings_read_properties(struct database *database, struct error *error)
{
	return levels_read(database->db, &levels, error);
}

void settings_write_properties(struct json *json, size_t number)
{
	json_begin(json, "properties", '{');
	json_text(json, "compression", "none");
	levels_write(json, &levels);
	json_end(json, '}');
}

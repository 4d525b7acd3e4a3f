/* The option table of the engine rocksdb: sets these options in RocksDB, and reads the effective
 * ones back from its file OPTIONS, for config.json. */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "rocksdb_release.h"

#define TEXT_OF(number) #number
#define RELEASE_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
#define RELEASE RELEASE_OF(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)

static const char *const sync_levels[] = {"off", "full", NULL};
static const char *const backgrounds[] = {"inline", "thread", NULL};
static const char *const off_on[] = {"off", "on", NULL};
static const char *const recovery_modes[] = {"kTolerateCorruptedTailRecords",
					     "kAbsoluteConsistency", "kPointInTimeRecovery",
					     "kSkipAnyCorruptedRecords", NULL};

const struct option settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "WriteOptions::sync: whether a write is synced before it returns"},
	{SETTING("background", "background", BACKGROUND), WORD("WHERE", backgrounds),
	 .preset = "inline",
	 .help = "who does flushes and compactions: the call that makes them due, or threads"},
	{SETTING("disable-wal", "disable_wal", DISABLE_WAL), WORD("SWITCH", off_on),
	 .preset = "off", .help = "WriteOptions::disableWAL: writes are not logged"},
	{SETTING("wal-recovery-mode", "wal_recovery_mode", WAL_RECOVERY_MODE),
	 WORD("MODE", recovery_modes), .preset = "kPointInTimeRecovery",
	 .help = "what is done with an invalid record of the log"},
	{SETTING("write-buffer-size", "write_buffer_size", WRITE_BUFFER_SIZE),
	 INTEGER("BYTES", 1 << 16, 1 << 30), .preset = "4194304", .at_populate = true,
	 .help = "of writes in memory before they become a table"},
	{SETTING("target-file-size-base", "target_file_size_base", TARGET_FILE_SIZE_BASE),
	 INTEGER("BYTES", 1 << 20, 1 << 30), .preset = "2097152", .at_populate = true,
	 .help = "size of a table"},
	{SETTING("block-cache", "block_cache", BLOCK_CACHE), INTEGER("BYTES", 0, 1 << 30),
	 .preset = "8388608", .help = "of the cache of uncompressed blocks"},
	{SETTING("bloom-bits", "bloom_bits", BLOOM_BITS), INTEGER("BITS", 0, 64), .preset = "0",
	 .at_populate = true, .help = "of a table's Bloom filter per key; 0: none"},
	{SETTING("cache-index-and-filter-blocks", "cache_index_and_filter_blocks",
		 CACHE_INDEX_AND_FILTER_BLOCKS),
	 WORD("SWITCH", off_on), .preset = "off",
	 .help = "index and filter blocks are in the block cache, from which they are evicted"},
	{SETTING("pin-l0-filter-and-index-blocks-in-cache",
		 "pin_l0_filter_and_index_blocks_in_cache",
		 PIN_L0_FILTER_AND_INDEX_BLOCKS_IN_CACHE),
	 WORD("SWITCH", off_on), .preset = "off",
	 .help = "with it, those of level 0 are not evicted"},
	{.name = NULL},
};

/* One background job, and no writes by time, so that a run repeats. A workload's value stands for
 * bytes that do not compress, and is one letter repeated. */
static const char always[] =
	"compression=kNoCompression;max_background_jobs=1;max_file_opening_threads=1;"
	"allow_concurrent_memtable_write=false;enable_write_thread_adaptive_yield=false;"
	"stats_dump_period_sec=0;stats_persist_period_sec=0;";

/* The settings that RocksDB itself writes to its file OPTIONS, by their names there. */
static const char *const reported[SETTINGS] = {
	[WAL_RECOVERY_MODE] = "wal_recovery_mode",
	[WRITE_BUFFER_SIZE] = "write_buffer_size",
	[TARGET_FILE_SIZE_BASE] = "target_file_size_base",
	[BLOOM_BITS] = "filter_policy",
	[CACHE_INDEX_AND_FILTER_BLOCKS] = "cache_index_and_filter_blocks",
	[PIN_L0_FILTER_AND_INDEX_BLOCKS_IN_CACHE] = "pin_l0_filter_and_index_blocks_in_cache",
};

/* Further lines of that file. */
static const char *const properties[] = {
	"rocksdb_version",	 "compression",
	"max_background_jobs",	 "allow_concurrent_memtable_write",
	"stats_dump_period_sec", "stats_persist_period_sec",
	"compaction_style",
};
enum { PROPERTIES = sizeof(properties) / sizeof(properties[0]) };
static char property_values[PROPERTIES][ANSWER_SIZE];
static struct levels levels;

const char *settings_title(void)
{
	return "RocksDB " RELEASE;
}

void settings_write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", RELEASE);
	json_end(json, '}');
}

bool settings_set(struct database *database, const struct options *options, struct error *error)
{
	const int64_t *values = options->settings;
	char text[1024], filter[64] = "nullptr", *message = NULL;
	rocksdb_options_t *set = rocksdb_options_create();

	if (database->use == ENGINE_RUN) {
		database->background = values[BACKGROUND];
		rocksdb_writeoptions_set_sync(database->write, values[SYNC] != 0);
		database->logs = values[DISABLE_WAL] == 0;
		rocksdb_writeoptions_disable_WAL(database->write, values[DISABLE_WAL] != 0);
	}
	if (values[BLOOM_BITS] > 0)
		snprintf(filter, sizeof(filter), "bloomfilter:%" PRId64 ":false",
			 values[BLOOM_BITS]);
	snprintf(text, sizeof(text),
		 "%swal_recovery_mode=%s;write_buffer_size=%" PRId64
		 ";target_file_size_base=%" PRId64
		 ";block_based_table_factory={block_cache=%" PRId64 ";filter_policy=%s;"
		 "cache_index_and_filter_blocks=%s;"
		 "pin_l0_filter_and_index_blocks_in_cache=%s};",
		 always, recovery_modes[values[WAL_RECOVERY_MODE]], values[WRITE_BUFFER_SIZE],
		 values[TARGET_FILE_SIZE_BASE], values[BLOCK_CACHE], filter,
		 values[CACHE_INDEX_AND_FILTER_BLOCKS] ? "true" : "false",
		 values[PIN_L0_FILTER_AND_INDEX_BLOCKS_IN_CACHE] ? "true" : "false");
	rocksdb_get_options_from_string(database->options, text, set, &message);
	rocksdb_options_destroy(database->options);
	database->options = set;
	return !call_failed("setting options", message, error);
}

/* The one with the largest number. */
bool settings_file(const char *path, char *name, size_t size)
{
	static const char start[] = "OPTIONS-";
	unsigned long long newest = 0;
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		unsigned long long number;
		char *end;

		if (strncmp(entry->d_name, start, sizeof(start) - 1) != 0)
			continue;
		number = strtoull(entry->d_name + sizeof(start) - 1, &end, 10);
		if (*end == '\0' && number > newest) {
			newest = number;
			snprintf(name, size, "%s/%s", path, entry->d_name);
		}
	}
	if (folder != NULL)
		closedir(folder);
	return newest > 0;
}

/* Keeps the value of a line `  name=value` of OPTIONS, if it is one that is asked for. */
static void keep(struct database *database, char *line)
{
	char *name = line + strspn(line, " "), *value = strchr(name, '=');

	if (value == NULL)
		return;
	*value++ = '\0';
	value[strcspn(value, "\n")] = '\0';
	for (size_t i = 0; i < SETTINGS; i++)
		if (reported[i] != NULL && strcmp(reported[i], name) == 0)
			snprintf(database->effective[i], ANSWER_SIZE, "%s", value);
	for (size_t i = 0; i < PROPERTIES; i++)
		if (strcmp(properties[i], name) == 0)
			snprintf(property_values[i], ANSWER_SIZE, "%s", value);
}

/* The bits in `bloomfilter:10:false`; of any other filter its whole text. */
static void keep_bits(char *answer)
{
	static const char start[] = "bloomfilter:";

	if (strcmp(answer, "nullptr") == 0)
		strcpy(answer, "0");
	if (strncmp(answer, start, sizeof(start) - 1) == 0) {
		memmove(answer, answer + sizeof(start) - 1, strlen(answer + sizeof(start) - 1) + 1);
		answer[strcspn(answer, ".:")] = '\0';
	}
}

/* The word of a switch; of anything else its whole text. */
static void keep_switch(char *answer)
{
	if (strcmp(answer, "true") == 0)
		strcpy(answer, off_on[1]);
	else if (strcmp(answer, "false") == 0)
		strcpy(answer, off_on[0]);
}

bool settings_read_back(struct database *database, const char *path, struct error *error)
{
	char name[PATH_MAX], line[4096];
	uint64_t capacity;
	FILE *file;

	if (!settings_file(path, name, sizeof(name)))
		return error_set(error, "%s left no file OPTIONS in %s", engine.title(), path);
	file = fopen(name, "re");
	if (file == NULL)
		return error_set(error, "%s cannot be read", name);
	while (fgets(line, sizeof(line), file) != NULL)
		keep(database, line);
	fclose(file);
	for (size_t i = 0; i < SETTINGS; i++)
		if (reported[i] != NULL && database->effective[i][0] == '\0')
			return error_set(error, "%s has no %s", name, reported[i]);
	keep_bits(database->effective[BLOOM_BITS]);
	keep_switch(database->effective[CACHE_INDEX_AND_FILTER_BLOCKS]);
	keep_switch(database->effective[PIN_L0_FILTER_AND_INDEX_BLOCKS_IN_CACHE]);
	if (rocksdb_property_int(database->db, "rocksdb.block-cache-capacity", &capacity) != 0)
		return error_set(error, "%s does not report the block cache", engine.title());
	snprintf(database->effective[BLOCK_CACHE], ANSWER_SIZE, "%" PRIu64, capacity);
	strcpy(database->effective[BACKGROUND], backgrounds[database->background]);
	/* What each write is given. */
	strcpy(database->effective[SYNC],
	       sync_levels[rocksdb_writeoptions_get_sync(database->write)]);
	strcpy(database->effective[DISABLE_WAL],
	       off_on[rocksdb_writeoptions_get_disable_WAL(database->write)]);
	return true;
}

bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error)
{
	snprintf(answer, size, "%s", database->effective[index]);
	return true;
}

bool settings_read_properties(struct database *database, struct error *error)
{
	return levels_read(database->db, &levels, error);
}

void settings_write_properties(struct json *json, size_t number)
{
	json_begin(json, "properties", '{');
	for (size_t i = 0; i < PROPERTIES; i++)
		json_text(json, properties[i], property_values[i]);
	levels_write(json, &levels);
	json_end(json, '}');
}

/* What LevelDB is, what can be requested of it, and what was in effect. */
#include <stdio.h>
#include <string.h>

#include "database.h"

const char engine_name[] = "leveldb";
const bool engine_has_sql = false;

static const char *const sync_levels[] = {"off", "full", NULL};

const struct option engine_settings[] = {
	{.name = "sync",
	 .key = "sync",
	 .argument = "LEVEL",
	 SETTING(SYNC),
	 .help = "WriteOptions::sync: whether a write is synced before it returns",
	 WORD(sync_levels),
	 .commands = COMMAND_RUN},
};
const size_t engine_setting_count = sizeof(engine_settings) / sizeof(engine_settings[0]);

static const char *const properties[] = {
	"num-files-at-level0", "num-files-at-level1", "num-files-at-level2", "num-files-at-level3",
	"num-files-at-level4", "num-files-at-level5", "num-files-at-level6",
};
#define PROPERTY_COUNT (sizeof(properties) / sizeof(properties[0]))
static char property_values[PROPERTY_COUNT][24];

const char *engine_title(void)
{
	static char title[64];

	snprintf(title, sizeof(title), "LevelDB %d.%d", leveldb_major_version(),
		 leveldb_minor_version());
	return title;
}

void engine_print_version(void)
{
	puts(engine_title());
}

void engine_write_version(struct json *json)
{
	json_begin(json, engine_name, '{');
	json_text(json, "version", strchr(engine_title(), ' ') + 1);
	json_end(json, '}');
}

/* LevelDB cannot be asked: it is what its options were set to. */
bool engine_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	(void)error;
	snprintf(answer, size, "%s", engine_settings[index].words[database->sync]);
	return true;
}

bool engine_read_properties(struct database *database, struct error *error)
{
	char name[64], *value;

	for (size_t i = 0; i < PROPERTY_COUNT; i++) {
		snprintf(name, sizeof(name), "leveldb.%s", properties[i]);
		value = leveldb_property_value(database->db, name);
		if (value == NULL)
			return error_set(error, "%s has no property %s", engine_title(), name);
		snprintf(property_values[i], sizeof(property_values[i]), "%s", value);
		leveldb_free(value);
	}
	return true;
}

void engine_write_properties(struct json *json, size_t number)
{
	(void)number;
	json_begin(json, "properties", '{');
	json_text(json, "compression", "none");
	for (size_t i = 0; i < PROPERTY_COUNT; i++)
		json_text(json, properties[i], property_values[i]);
	json_end(json, '}');
}

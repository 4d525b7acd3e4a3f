/* What LevelDB is, what can be requested of it, and what was in effect. */
#include <stdio.h>
#include <string.h>

#include "database.h"

static const char *const sync_levels[] = {"off", "full", NULL};

const struct option settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "WriteOptions::sync: whether a write is synced before it returns"},
	{.name = NULL},
};

static const char *const properties[] = {
	"num-files-at-level0", "num-files-at-level1", "num-files-at-level2", "num-files-at-level3",
	"num-files-at-level4", "num-files-at-level5", "num-files-at-level6",
};
#define PROPERTY_COUNT (sizeof(properties) / sizeof(properties[0]))
static char property_values[PROPERTY_COUNT][24];

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

/* LevelDB has no call for it: returns what its options were set to. */
bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error)
{
	(void)error;
	snprintf(answer, size, "%s", settings[index].words[database->sync]);
	return true;
}

bool settings_read_properties(struct database *database, struct error *error)
{
	char name[64], *value;

	for (size_t i = 0; i < PROPERTY_COUNT; i++) {
		snprintf(name, sizeof(name), "leveldb.%s", properties[i]);
		value = leveldb_property_value(database->db, name);
		if (value == NULL)
			return error_set(error, "%s has no property %s", settings_title(), name);
		snprintf(property_values[i], sizeof(property_values[i]), "%s", value);
		leveldb_free(value);
	}
	return true;
}

void settings_write_properties(struct json *json, size_t number)
{
	(void)number;
	json_begin(json, "properties", '{');
	json_text(json, "compression", "none");
	for (size_t i = 0; i < PROPERTY_COUNT; i++)
		json_text(json, properties[i], property_values[i]);
	json_end(json, '}');
}

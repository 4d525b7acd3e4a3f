/* Reads the number of tables on each level from LevelDB's properties, and writes them to
 * config.json. */
#include "leveldb/levels.h"

#include <stdio.h>

bool levels_read(leveldb_t *db, struct levels *levels, struct error *error)
{
	for (int level = 0; level < LEVELS; level++) {
		char name[48], *value;

		snprintf(name, sizeof(name), "leveldb.num-files-at-level%d", level);
		value = leveldb_property_value(db, name);
		if (value == NULL)
			return error_set(error, "LevelDB has no property %s", name);
		snprintf(levels->tables[level], sizeof(levels->tables[level]), "%s", value);
		leveldb_free(value);
	}
	return true;
}

void levels_write(struct json *json, const struct levels *levels)
{
	for (int level = 0; level < LEVELS; level++) {
		char name[48];

		snprintf(name, sizeof(name), "num-files-at-level%d", level);
		json_text(json, name, levels->tables[level]);
	}
}

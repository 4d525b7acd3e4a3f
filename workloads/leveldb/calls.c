/* Shared by engines with the C API of LevelDB or RocksDB: sets an error from the store's message,
 * removes a database, and writes the number of tables on each level to config.json. */
#include "database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool call_failed(const char *operation, char *message, struct error *error)
{
	if (message == NULL)
		return false;
	error_set(error, "%s failed: %s", operation, message);
	STORE(free)(message);
	return true;
}

bool calls_remove(const char *path, struct error *error)
{
	STORE(options_t) * options;
	struct stat status;
	char *message = NULL;

	if (stat(path, &status) != 0)
		return errno == ENOENT ||
		       error_set(error, "removing %s: %s", path, strerror(errno));
	options = STORE(options_create)();
	STORE(destroy_db)(options, path, &message);
	STORE(options_destroy)(options);
	return !call_failed("removing the database", message, error);
}

bool levels_read(STORE(t) * db, struct levels *levels, struct error *error)
{
	for (int level = 0; level < LEVELS; level++) {
		char name[48], *value;

		snprintf(name, sizeof(name), STORE_NAME ".num-files-at-level%d", level);
		value = STORE(property_value)(db, name);
		if (value == NULL)
			return error_set(error, "%s has no property %s", engine.title(), name);
		snprintf(levels->tables[level], sizeof(levels->tables[level]), "%s", value);
		STORE(free)(value);
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

/* Writes what SQLite reports besides the settings to config.json and `driver version`: release,
 * compile options, and every pragma that can be read without an effect. */
#include <stdio.h>
#include <string.h>

#include "hooks.h"
#include "sql.h"

enum { ANSWER_SIZE = 64 };

/* Every pragma that can be read without an effect and is not a setting of each engine made of
 * SQLite. A release returns nothing for one that it does not know. */
static const char *const others[] = {
	"analysis_limit",
	"application_id",
	"auto_vacuum",
	"automatic_index",
	"busy_timeout",
	"cache_spill",
	"cell_size_check",
	"checkpoint_fullfsync",
	"defer_foreign_keys",
	"encoding",
	"foreign_keys",
	"freelist_count",
	"fullfsync",
	"hard_heap_limit",
	"legacy_alter_table",
	"legacy_file_format",
	"locking_mode",
	"max_page_count",
	"mmap_size",
	"page_count",
	"query_only",
	"read_uncommitted",
	"recursive_triggers",
	"reverse_unordered_selects",
	"schema_version",
	"secure_delete",
	"soft_heap_limit",
	"temp_store",
	"threads",
	"trusted_schema",
	"user_version",
	"writable_schema",
};
#define OTHER_COUNT (sizeof(others) / sizeof(others[0]))

/* Whether an engine's setting has the pragma, which is then read back as such. */
static bool is_setting(const char *name)
{
	for (size_t i = 0; i < engine_setting_count(); i++)
		if (strcmp(engine.settings[i].key, name) == 0)
			return true;
	return false;
}

static char other_answers[MAX_DATABASES][OTHER_COUNT][ANSWER_SIZE];

bool sqlite_read_properties(struct database *database, struct error *error)
{
	char(*answers)[ANSWER_SIZE] = other_answers[database->number];
	char sql[ANSWER_SIZE];
	bool found;

	for (size_t i = 0; i < OTHER_COUNT; i++) {
		answers[i][0] = '\0';
		if (is_setting(others[i]))
			continue;
		snprintf(sql, sizeof(sql), "PRAGMA %s", others[i]);
		if (!sql_text(database->db, sql, answers[i], ANSWER_SIZE, &found, error))
			return false;
		if (!found)
			answers[i][0] = '\0';
	}
	return true;
}

void sqlite_write_pragmas(struct json *json, size_t number)
{
	char(*answers)[ANSWER_SIZE] = other_answers[number == ALL_DATABASES ? 0 : number];

	for (size_t i = 0; i < OTHER_COUNT; i++)
		if (answers[i][0] != '\0')
			json_text(json, others[i], answers[i]);
}

void sqlite_print_version(void)
{
	const char *option;

	printf("%s\nsource id %s\n", engine.title(), sqlite3_sourceid());
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		printf("compile option %s\n", option);
}

void sqlite_write_version(struct json *json)
{
	const char *option;

	json_begin(json, engine.name, '{');
	json_text(json, "version", sqlite3_libversion());
	json_text(json, "source_id", sqlite3_sourceid());
	json_begin(json, "compile_options", '[');
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		json_text(json, NULL, option);
	json_end(json, ']');
	json_end(json, '}');
}

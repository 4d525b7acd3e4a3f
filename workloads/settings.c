#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "fail.h"

enum { ANSWER_SIZE = 64, MAX_REQUESTED = 16 };

/* Every pragma of SQLite that can be read without an effect and is not among
 * the requested ones. One that a release does not know answers nothing. */
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

static char effective[MAX_REQUESTED][ANSWER_SIZE];
static char other_answers[OTHER_COUNT][ANSWER_SIZE];

/* PRAGMA synchronous answers with the number of its word. */
static void number_to_word(const struct option *option, char *answer)
{
	char *end;
	long index = strtol(answer, &end, 10);

	if (option->words == NULL || end == answer || *end != '\0')
		return;
	for (long i = 0; option->words[i] != NULL; i++)
		if (i == index)
			snprintf(answer, ANSWER_SIZE, "%s", option->words[i]);
}

static void check_one(sqlite3 *db, const struct option *option, const struct options *options,
		      char *answer)
{
	char sql[ANSWER_SIZE], buffer[ANSWER_SIZE];
	const char *wanted = option_value_text(option, options, buffer, sizeof(buffer));

	snprintf(sql, sizeof(sql), "PRAGMA %s", option->key);
	if (!database_text(db, sql, answer, ANSWER_SIZE))
		fail("%s: SQLite %s has no such pragma", option->key, sqlite3_libversion());
	number_to_word(option, answer);
	if (strcmp(answer, wanted) != 0)
		fail("%s: %s was asked for, but SQLite %s says %s", option->key, wanted,
		     sqlite3_libversion(), answer);
}

void settings_check(sqlite3 *db, const struct options *options)
{
	size_t count = 0;

	for (size_t i = 0; i < option_count; i++) {
		if (option_table[i].section != SECTION_REQUESTED)
			continue;
		if (count == MAX_REQUESTED)
			fail("more than %d requested pragmas", MAX_REQUESTED);
		check_one(db, &option_table[i], options, effective[count++]);
	}
}

void settings_apply(sqlite3 *db, const struct options *options)
{
	char sql[2 * ANSWER_SIZE], value[ANSWER_SIZE];

	/* Before this first read the connection does not know the file, and
	 * answers with its own defaults. */
	database_number(db, "SELECT count(*) FROM sqlite_master");
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];

		if (option->section != SECTION_REQUESTED || strcmp(option->key, "page_size") == 0)
			continue;
		snprintf(sql, sizeof(sql), "PRAGMA %s=%s", option->key,
			 option_value_text(option, options, value, sizeof(value)));
		database_run(db, sql);
	}
	settings_check(db, options);
}

void settings_read_others(sqlite3 *db)
{
	char sql[ANSWER_SIZE];

	for (size_t i = 0; i < OTHER_COUNT; i++) {
		snprintf(sql, sizeof(sql), "PRAGMA %s", others[i]);
		if (!database_text(db, sql, other_answers[i], ANSWER_SIZE))
			other_answers[i][0] = '\0';
	}
}

/* A number where the option is one, else text. */
static void write_value(struct json *json, const struct option *option, const char *text)
{
	if (option->kind == OPTION_INTEGER)
		json_number(json, option->key, strtoll(text, NULL, 10));
	else
		json_text(json, option->key, text);
}

static void write_requested(struct json *json, const struct options *options, bool read_back)
{
	char buffer[ANSWER_SIZE];
	size_t count = 0;

	json_begin(json, read_back ? "effective" : "requested", '{');
	for (size_t i = 0; i < option_count; i++) {
		const struct option *option = &option_table[i];

		if (option->section != SECTION_REQUESTED)
			continue;
		write_value(json, option,
			    read_back ? effective[count++]
				      : option_value_text(option, options, buffer, sizeof(buffer)));
	}
	json_end(json, '}');
}

void settings_write(struct json *json, const struct options *options)
{
	write_requested(json, options, false);
	write_requested(json, options, true);
	json_begin(json, "pragmas", '{');
	for (size_t i = 0; i < OTHER_COUNT; i++)
		if (other_answers[i][0] != '\0')
			json_text(json, others[i], other_answers[i]);
	json_end(json, '}');
}

/* Names the paths of a run's databases (one, or --databases N), opens them all, calls an engine
 * hook for each, and compares their settings with the requested ones; writes both to
 * config.json. */
#include "databases.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

const char *database_path(const struct options *options, size_t number)
{
	static char *paths[MAX_DATABASES];
	const char *first = options->database, *name = strrchr(first, '/'), *end;
	int length;

	if (number == 0)
		return first;
	if (paths[number] != NULL)
		return paths[number];
	paths[number] = malloc(PATH_MAX);
	if (paths[number] == NULL)
		fail("no memory for the path of database %zu", number + 1);
	name = name != NULL ? name + 1 : first;
	end = strrchr(name, '.');
	if (end == NULL || end == name)
		end = name + strlen(name);
	length = snprintf(paths[number], PATH_MAX, "%.*s-%zu%s", (int)(end - first), first,
			  number + 1, end);
	if (length < 0 || length >= PATH_MAX)
		fail("the path of the database is too long");
	return paths[number];
}

/* Adds the database's number to an error if there are several. Returns false. */
static bool failed(const struct databases *databases, size_t number, struct error *error)
{
	struct error cause = *error;

	if (databases->count > 1)
		error_set(error, "database %zu: %s", number + 1, cause.text);
	return false;
}

bool databases_open(struct databases *databases, const struct options *options,
		    const struct workload *workload, enum engine_use use, struct error *error)
{
	databases->count = (size_t)options->databases;
	for (size_t i = 0; i < databases->count; i++) {
		databases->of[i] =
			engine.open(database_path(options, i), i, options, workload, use, error);
		if (databases->of[i] == NULL)
			return failed(databases, i, error);
	}
	return true;
}

bool databases_each(struct databases *databases, bool (*hook)(struct database *, struct error *),
		    struct error *error)
{
	for (size_t i = 0; i < databases->count; i++)
		if (!hook(databases->of[i], error))
			return failed(databases, i, error);
	return true;
}

bool databases_rows(struct databases *databases,
		    bool (*hook)(struct database *, int64_t *, struct error *), int64_t *rows,
		    struct error *error)
{
	*rows = 0;
	for (size_t i = 0; i < databases->count; i++) {
		int64_t count;

		if (!hook(databases->of[i], &count, error))
			return failed(databases, i, error);
		*rows += count;
	}
	return true;
}

enum { ANSWER_SIZE = 64 };

static char effective[MAX_DATABASES][MAX_SETTINGS][ANSWER_SIZE];

/* Reads every setting of a database back and keeps it. */
static bool check_settings(struct database *database, size_t number, const struct options *options,
			   struct error *error)
{
	char(*answers)[ANSWER_SIZE] = effective[number];
	char buffer[ANSWER_SIZE];

	for (size_t i = 0; i < engine_setting_count(); i++) {
		const struct option *option = &engine.settings[i];
		const char *wanted = option_value_text(option, options, buffer, sizeof(buffer));

		if (!engine.read_setting(database, i, answers[i], ANSWER_SIZE, error))
			return false;
		if (strcmp(answers[i], NOT_REPORTED) != 0 && strcmp(answers[i], wanted) != 0)
			return error_set(error, "%s: %s was requested, but %s says %s", option->key,
					 wanted, engine.title(), answers[i]);
	}
	return true;
}

bool databases_check(struct databases *databases, const struct options *options,
		     struct error *error)
{
	for (size_t i = 0; i < databases->count; i++)
		if (!check_settings(databases->of[i], i, options, error))
			return failed(databases, i, error);
	return true;
}

void file_sizes_add(struct file_sizes *sum, const struct file_sizes *sizes)
{
	for (size_t i = 0; i < sum->count; i++)
		sum->of[i].bytes += sizes->of[i].bytes;
}

/* A number where the option is one, else text. */
static void write_value(struct json *json, const struct option *option, const char *text)
{
	if (option->kind == OPTION_INTEGER)
		json_number(json, option->key, strtoll(text, NULL, 10));
	else
		json_text(json, option->key, text);
}

void settings_write_requested(struct json *json, const struct options *options)
{
	char buffer[ANSWER_SIZE];

	json_begin(json, "requested", '{');
	for (size_t i = 0; i < engine_setting_count(); i++)
		write_value(
			json, &engine.settings[i],
			option_value_text(&engine.settings[i], options, buffer, sizeof(buffer)));
	json_end(json, '}');
}

void settings_write_effective(struct json *json, size_t number)
{
	json_begin(json, "effective", '{');
	for (size_t i = 0; i < engine_setting_count(); i++)
		if (strcmp(effective[number][i], NOT_REPORTED) != 0)
			write_value(json, &engine.settings[i], effective[number][i]);
	json_end(json, '}');
}

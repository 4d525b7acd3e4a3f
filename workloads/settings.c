#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { ANSWER_SIZE = 64 };

static char effective[MAX_DATABASES][MAX_SETTINGS][ANSWER_SIZE];

bool settings_check(struct database *database, size_t number, const struct options *options,
		    struct error *error)
{
	char(*answers)[ANSWER_SIZE] = effective[number];
	char buffer[ANSWER_SIZE];

	for (size_t i = 0; i < engine_setting_count(); i++) {
		const struct option *option = &engine.settings[i];
		const char *wanted = option_value_text(option, options, buffer, sizeof(buffer));

		if (!engine.read_setting(database, i, answers[i], ANSWER_SIZE, error))
			return false;
		if (strcmp(answers[i], wanted) != 0)
			return error_set(error, "%s: %s was requested, but %s says %s", option->key,
					 wanted, engine.title(), answers[i]);
	}
	return true;
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
		write_value(json, &engine.settings[i], effective[number][i]);
	json_end(json, '}');
}

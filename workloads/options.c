/* Parses the driver's command line by two tables, its own options and the engine's; checks words
 * and ranges, and prints --help. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fail.h"
#include "workload.h"

static const struct {
	const char *name, *help;
	enum command command;
} commands[] = {
	{"populate", "make the database that a run starts from", COMMAND_POPULATE},
	{"run", "run a workload on a populated database", COMMAND_RUN},
	{"version", "print the engine's version and how it was built", COMMAND_VERSION},
};
enum { MAX_OPTIONS = 48 };
#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

/* The driver's own options and then the engine's. */
static size_t all_options(void)
{
	return option_count + engine_setting_count();
}

static const struct option *option_at(size_t index)
{
	return index < option_count ? &option_table[index] : &engine.settings[index - option_count];
}

static bool takes(enum command command, const struct option *option)
{
	return command == COMMAND_RUN || (command == COMMAND_POPULATE && option->at_populate);
}

static void print_words(const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++)
		printf("%s%s", i > 0 ? "|" : "", words[i]);
}

static void print_help(void)
{
	puts("usage: driver COMMAND [--OPTION VALUE]...\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		if (commands[i].command == COMMAND_VERSION)
			continue;
		printf("\noptions of %s:\n", commands[i].name);
		for (size_t j = 0; j < all_options(); j++) {
			const struct option *o = option_at(j);

			if (!takes(commands[i].command, o))
				continue;
			printf("  --%-18s %-7s %s", o->name, o->argument ? o->argument : "",
			       o->help);
			if (o->words != NULL) {
				fputs(": ", stdout);
				print_words(o->words);
			}
			if (o->preset == NULL)
				fputs(" (must be given)", stdout);
			else if (o->preset[0] != '\0')
				printf(" (default %s)", o->preset);
			putchar('\n');
		}
	}
	puts("\nworkloads:");
	for (size_t i = 0; workload_names[i] != NULL; i++) {
		const struct workload *workload = workload_at(i);

		printf("  %-10s %s\n  %-10s phases: ", workload->name, workload->summary, "");
		for (size_t j = 0; j < workload->phase_count; j++)
			printf("%s%s", j > 0 ? "," : "", workload->phases[j].name);
		putchar('\n');
	}
	puts("\nexit status: 0 done, 1 failed while running, 2 wrong usage. run writes "
	     "config.json\n"
	     "last: a folder without it holds no complete run.");
}

static int64_t parse_word(const struct option *option, const char *text)
{
	for (size_t i = 0; option->words[i] != NULL; i++)
		if (strcmp(option->words[i], text) == 0)
			return (int64_t)i;
	fail_usage("--%s: '%s' is not one of its words; see driver --help", option->name, text);
}

static int64_t parse_integer(const struct option *option, const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (end == text || *end != '\0' || isspace((unsigned char)text[0]))
		fail_usage("--%s: '%s' is not a whole number", option->name, text);
	if (errno == ERANGE || value < option->minimum || value > option->maximum)
		fail_usage("--%s: %s is not from %" PRId64 " to %" PRId64, option->name, text,
			   option->minimum, option->maximum);
	if (option->power_of_two && (value & (value - 1)) != 0)
		fail_usage("--%s: %s is not a power of two", option->name, text);
	return value;
}

static void set_value(const struct option *option, struct options *options, const char *text)
{
	void *field = (char *)options + option->offset;

	switch (option->kind) {
	case OPTION_TEXT:
		if (text[0] == '\0')
			fail_usage("--%s: the value is empty", option->name);
		*(const char **)field = text;
		break;
	case OPTION_INTEGER:
		*(int64_t *)field = parse_integer(option, text);
		break;
	case OPTION_WORD:
		*(int64_t *)field = parse_word(option, text);
		break;
	case OPTION_FLAG:
		*(bool *)field = true;
		break;
	}
}

/* The option's number in option_at. */
static size_t find_option(const char *argument, enum command command)
{
	if (strncmp(argument, "--", 2) != 0)
		fail_usage("'%s' is not an option; see driver --help", argument);
	for (size_t i = 0; i < all_options(); i++)
		if (strcmp(option_at(i)->name, argument + 2) == 0 && takes(command, option_at(i)))
			return i;
	fail_usage("%s is not an option of this command; see driver --help", argument);
}

static enum command parse_command(int argc, char **argv)
{
	if (argc < 2)
		fail_usage("no command; see driver --help");
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--help") == 0) {
			print_help();
			exit(EXIT_SUCCESS);
		}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, argv[1]) == 0)
			return commands[i].command;
	fail_usage("'%s' is not a command; see driver --help", argv[1]);
}

void options_parse(int argc, char **argv, struct options *options)
{
	bool given[MAX_OPTIONS] = {false};

	if (engine_setting_count() > MAX_SETTINGS || all_options() > MAX_OPTIONS)
		fail("more than %d options or %d settings", MAX_OPTIONS, MAX_SETTINGS);
	memset(options, 0, sizeof(*options));
	options->command = parse_command(argc, argv);
	for (int i = 2; i < argc; i++) {
		size_t number = find_option(argv[i], options->command);
		const struct option *option = option_at(number);
		const char *text = NULL;

		if (given[number])
			fail_usage("--%s is given twice", option->name);
		given[number] = true;
		if (option->kind != OPTION_FLAG) {
			if (++i == argc)
				fail_usage("--%s needs a value", option->name);
			text = argv[i];
		}
		set_value(option, options, text);
	}
	for (size_t i = 0; i < all_options(); i++) {
		const struct option *option = option_at(i);

		if (given[i] || !takes(options->command, option))
			continue;
		if (option->preset == NULL)
			fail_usage("--%s must be given", option->name);
		if (option->preset[0] != '\0')
			set_value(option, options, option->preset);
	}
	if (options->command == COMMAND_RUN && options->checkpoint_every == 0)
		fail_usage("--checkpoint-every: 0 has no meaning; -1 is only at the end");
}

int64_t option_number(const struct option *option, const struct options *options)
{
	const void *field = (const char *)options + option->offset;

	return option->kind == OPTION_FLAG ? *(const bool *)field : *(const int64_t *)field;
}

const char *option_value_text(const struct option *option, const struct options *options,
			      char *buffer, size_t size)
{
	if (option->kind == OPTION_TEXT)
		return *(const char *const *)((const char *)options + option->offset);
	if (option->kind == OPTION_WORD)
		return option->words[option_number(option, options)];
	snprintf(buffer, size, "%" PRId64, option_number(option, options));
	return buffer;
}

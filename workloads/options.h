/* Parses the driver's command line into struct options, by two tables of options: option_table.c
 * and the engine's settings. They also drive range checks, --help, the settings that are requested,
 * and the configuration that is written. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum command { COMMAND_POPULATE, COMMAND_RUN, COMMAND_VERSION };

enum { MAX_SETTINGS = 16, MAX_DATABASES = 32 };

/* Values of --pace-ns other than an interval in ns. */
enum { PACE_RECORDED = -1, PACE_NONE = 0 };

/* Words of insert_order, and of value_size_distribution: of ZIPFIAN_SIZES value_size is the
 * largest. */
enum { ORDERED, HASHED };
enum { CONSTANT_SIZES, ZIPFIAN_SIZES };

/* Words are kept as their index in the option's list. */
struct options {
	enum command command;
	const char *database; /* the first one */
	int64_t databases;
	int64_t workload;
	const char *file;   /* NULL: none */
	const char *phases; /* NULL: all */
	int64_t rows;
	int64_t n;
	int64_t value_size;
	int64_t seed;
	int64_t checkpoint_every;
	int64_t pace_ns; /* or PACE_RECORDED, PACE_NONE */
	const char *mix; /* of a workload that mixes; else NULL */
	int64_t request_distribution, insert_order, value_size_distribution, batch;
	int64_t settings[MAX_SETTINGS]; /* of the engine, in its order */
	const char *output_dir;
	const char *device_stat; /* NULL: none */
	const char *drop_caches; /* NULL: the database is scanned before */
	const char *announce;	 /* NULL: nowhere */
	const char *written;	 /* NULL: nowhere */
	const char *persistent;	 /* NULL: no such memory */
	bool start_on_second;
	bool record_opening;
	bool open_on_second;
	bool vfs_log;
};

enum option_kind { OPTION_TEXT, OPTION_INTEGER, OPTION_WORD, OPTION_FLAG };

struct option {
	const char *name; /* without the dashes */
	const char *key;  /* in config.json, of a setting also in the engine; NULL: not written */
	const char *argument;	  /* its name in --help; NULL for a flag */
	const char *help;	  /* one line, with the unit */
	const char *preset;	  /* value when not given; NULL: it must be given, "": none */
	const char *const *words; /* OPTION_WORD: the list, NULL-terminated */
	int64_t minimum, maximum; /* OPTION_INTEGER: both inclusive */
	size_t offset;		  /* of the field in struct options */
	enum option_kind kind;
	bool at_populate; /* `populate` takes it too, not only `run` */
	bool power_of_two;
};

/* An option of the driver, without and with a key, and an engine's setting. */
#define OPTION(option, field) .name = (option), .offset = offsetof(struct options, field)
#define RECORDED(option, field) OPTION(option, field), .key = #field
#define SETTING(option, word, number) OPTION(option, settings[number]), .key = (word)

/* The value, with the name of its argument. */
#define TEXT(name) .kind = OPTION_TEXT, .argument = (name)
#define WORD(name, list) .kind = OPTION_WORD, .argument = (name), .words = (list)
#define INTEGER(name, least, most) \
	.kind = OPTION_INTEGER, .argument = (name), .minimum = (least), .maximum = (most)
#define FLAG .kind = OPTION_FLAG, .preset = ""

extern const struct option option_table[]; /* option_table.c: the driver's own */
extern const size_t option_count;

/* Parses the command line. Prints help or the usage error and exits when
 * there is nothing to run. */
void options_parse(int argc, char **argv, struct options *options);

/* The value of an integer, word (its index) or flag option. */
int64_t option_number(const struct option *option, const struct options *options);

/* The value as the user writes it. `buffer`, of at least 24 bytes, holds it
 * where it is not a constant. NULL for a text option that was not given. */
const char *option_value_text(const struct option *option, const struct options *options,
			      char *buffer, size_t size);

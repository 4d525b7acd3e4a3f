/* Names the paths of a run's databases (one, or --databases N), opens them all, calls an engine
 * hook for each, and compares their settings with the requested ones; writes both to
 * config.json. */
#pragma once

#include "engine.h"

struct databases {
	size_t count;
	struct database *of[MAX_DATABASES];
};

/* Results of engine.file_sizes. */
struct file_sizes {
	struct file_size of[MAX_FILE_SIZES];
	size_t count;
};

/* Returns the path of a database, valid for the whole run: next to the first, with -2 and so on
 * after the stem of its name. */
const char *database_path(const struct options *options, size_t number);

/* Open all of them, or call a hook of engine.h for each. With several, an error has the database's
 * number. */
bool databases_open(struct databases *databases, const struct options *options,
		    const struct workload *workload, enum engine_use use, struct error *error);
bool databases_each(struct databases *databases, bool (*hook)(struct database *, struct error *),
		    struct error *error);

/* Adds up the rows that a hook returns for each. */
bool databases_rows(struct databases *databases,
		    bool (*hook)(struct database *, int64_t *, struct error *), int64_t *rows,
		    struct error *error);

/* Reads each setting of each database back; an error if one is not the requested value. */
bool databases_check(struct databases *databases, const struct options *options,
		     struct error *error);

/* Write objects of config.json: the requested settings, and a database's effective ones, as
 * databases_check read them. */
void settings_write_requested(struct json *json, const struct options *options);
void settings_write_effective(struct json *json, size_t number);

/* Adds sizes to others, role by role. */
void file_sizes_add(struct file_sizes *sum, const struct file_sizes *sizes);

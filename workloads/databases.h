/* The databases of a run: one, or --databases of them for a workload that supports several. */
#ifndef COMMITPATH_DATABASES_H
#define COMMITPATH_DATABASES_H

#include "engine.h"

struct databases {
	size_t count;
	struct database *of[MAX_DATABASES];
};

/* Results of engine_file_sizes. */
struct file_sizes {
	struct file_size of[MAX_FILE_SIZES];
	size_t count;
};

/* Returns the path of a database, valid for the whole run: next to the first, with -2 and so on
 * after the stem of its name. */
const char *database_path(const struct options *options, size_t number);

/* Call the functions of engine.h with these names for each database. With several, an error has the
 * database's number. */
bool databases_open(struct databases *databases, const struct options *options,
		    const struct workload *workload, enum engine_use use, struct error *error);
bool databases_close(struct databases *databases, struct error *error);
bool databases_create_tables(struct databases *databases, struct error *error);
bool databases_maintain(struct databases *databases, struct error *error);
bool databases_read_properties(struct databases *databases, struct error *error);

/* Counts the rows of all of them. */
bool databases_scan(struct databases *databases, int64_t *rows, struct error *error);
bool databases_count(struct databases *databases, int64_t *rows, struct error *error);

/* settings.h, for each. */
bool databases_check(struct databases *databases, const struct options *options,
		     struct error *error);

/* Adds sizes to others, role by role. */
void file_sizes_add(struct file_sizes *sum, const struct file_sizes *sizes);

#endif

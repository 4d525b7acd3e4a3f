/* The databases of a run: one, or as many as --databases says of a workload whose transactions are
 * of several. */
#ifndef COMMITPATH_DATABASES_H
#define COMMITPATH_DATABASES_H

#include "engine.h"

struct databases {
	size_t count;
	struct database *of[MAX_DATABASES];
};

/* What engine_file_sizes answered. */
struct file_sizes {
	struct file_size of[MAX_FILE_SIZES];
	size_t count;
};

/* Where the database of that number is: beside the first, with -2 and so on behind the stem of its
 * name. It lasts. */
const char *database_path(const struct options *options, size_t number);

/* As the functions of engine.h that they are called after, of one database after another. What
 * fails says of several which it was. */
bool databases_open(struct databases *databases, const struct options *options,
		    const struct workload *workload, enum engine_use use, struct error *error);
bool databases_close(struct databases *databases, struct error *error);
bool databases_create_tables(struct databases *databases, struct error *error);
bool databases_maintain(struct databases *databases, struct error *error);
bool databases_read_properties(struct databases *databases, struct error *error);

/* Rows of all of them. */
bool databases_scan(struct databases *databases, int64_t *rows, struct error *error);
bool databases_count(struct databases *databases, int64_t *rows, struct error *error);

/* settings.h, of each. */
bool databases_check(struct databases *databases, const struct options *options,
		     struct error *error);

/* Adds sizes to others, role by role. */
void file_sizes_add(struct file_sizes *sum, const struct file_sizes *sizes);

#endif

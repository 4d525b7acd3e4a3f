#include "databases.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "settings.h"

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

bool databases_check(struct databases *databases, const struct options *options,
		     struct error *error)
{
	for (size_t i = 0; i < databases->count; i++)
		if (!settings_check(databases->of[i], i, options, error))
			return failed(databases, i, error);
	return true;
}

void file_sizes_add(struct file_sizes *sum, const struct file_sizes *sizes)
{
	for (size_t i = 0; i < sum->count; i++)
		sum->of[i].bytes += sizes->of[i].bytes;
}

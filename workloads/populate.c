/* The command `driver populate`: makes the databases that a run starts from, fills them with the
 * workload's rows, and renames them when they are complete. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "databases.h"
#include "engine.h"
#include "fail.h"
#include "run.h"
#include "workload.h"

static size_t partials;
static char *partial_paths[MAX_DATABASES];

/* Runs at exit, when the options on main's stack are gone. */
static void remove_partial(void)
{
	struct error ignored;

	for (size_t i = 0; i < partials; i++)
		engine.remove(partial_paths[i], &ignored);
}

static void sync_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) != 0)
		fail("syncing %s: %s", path, strerror(errno));
	close(fd);
}

static bool load_rows(struct database *database, const struct workload *workload,
		      const struct options *options, struct error *error)
{
	struct generator generator;
	struct transaction row;
	bool loaded = true;

	generator_open(&generator, workload, options);
	generator_begin_phase(&generator, 0, 0);
	for (int64_t i = 0; loaded && i < options->rows; i++) {
		generator_fill(&generator, &row);
		loaded = engine_load(database, &row, error);
	}
	generator_close(&generator);
	return loaded;
}

static void fill(const struct options *options, size_t number)
{
	const struct workload *workload = workload_at((size_t)options->workload);
	const char *path = partial_paths[number];
	struct database *database;
	struct error error;

	if (!engine.remove(path, &error))
		fail("%s", error.text);
	database = engine.open(path, number, options, workload, ENGINE_CREATE, &error);
	if (database == NULL)
		fail("%s", error.text);
	if ((!workload->creates && !engine_create_tables(database, &error)) ||
	    (workload->fill != NULL && !load_rows(database, workload, options, &error)) ||
	    !engine.close(database, &error))
		fail("%s", error.text);
}

void populate(const struct options *options)
{
	char folder[PATH_MAX];

	workload_check(options);
	for (size_t i = 0; i < (size_t)options->databases; i++) {
		const char *path = database_path(options, i);
		int length = -1;

		partial_paths[i] = malloc(PATH_MAX);
		if (partial_paths[i] != NULL)
			length = snprintf(partial_paths[i], PATH_MAX, "%s.partial", path);
		if (length < 0 || length >= PATH_MAX)
			fail("the path of the database is too long");
		if (access(path, F_OK) == 0)
			fail("%s exists already", path);
	}
	partials = (size_t)options->databases;
	atexit(remove_partial);
	for (size_t i = 0; i < (size_t)options->databases; i++)
		fill(options, i);
	for (size_t i = 0; i < (size_t)options->databases; i++)
		if (rename(partial_paths[i], database_path(options, i)) != 0)
			fail("renaming %s: %s", partial_paths[i], strerror(errno));
	snprintf(folder, sizeof(folder), "%s", options->database);
	sync_path(dirname(folder));
}

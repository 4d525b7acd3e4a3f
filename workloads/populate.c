#include "populate.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine.h"
#include "fail.h"
#include "workload.h"

static char partial_path[PATH_MAX];

static void remove_partial(void)
{
	struct error ignored;

	engine_remove(partial_path, &ignored);
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

static void fill(const struct options *options)
{
	const struct workload *workload = workload_at((size_t)options->workload);
	struct database *database;
	struct error error;

	if (!engine_remove(partial_path, &error))
		fail("%s", error.text);
	database = engine_open(partial_path, options, workload, ENGINE_CREATE, &error);
	if (database == NULL)
		fail("%s", error.text);
	if ((!workload->creates && !engine_create_tables(database, &error)) ||
	    (workload->fill != NULL && !load_rows(database, workload, options, &error)) ||
	    !engine_close(database, &error))
		fail("%s", error.text);
}

void populate(const struct options *options)
{
	char folder[PATH_MAX];
	int length = snprintf(partial_path, sizeof(partial_path), "%s.partial", options->database);

	workload_check(options);
	if (length < 0 || (size_t)length >= sizeof(partial_path))
		fail("the path of the database is too long");
	if (access(options->database, F_OK) == 0)
		fail("%s exists already", options->database);
	atexit(remove_partial);
	fill(options);
	if (rename(partial_path, options->database) != 0)
		fail("renaming %s: %s", partial_path, strerror(errno));
	snprintf(folder, sizeof(folder), "%s", options->database);
	sync_path(dirname(folder));
}

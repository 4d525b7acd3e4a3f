/* Reads the whole file that --file names into memory, for the workloads made of a user's file. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "options.h"

/* Zeroed memory for what the file has, and one more. Ends the run where there is none. */
static inline void *user_file_allocate(const struct options *options, size_t count, size_t size)
{
	void *memory = calloc(count + 1, size);

	if (memory == NULL)
		fail("%s: no memory for %zu times %zu bytes", options->file, count, size);
	return memory;
}

/* Returns the file's content, with a NUL behind it. */
static inline char *user_file_read(const struct options *options, size_t *size)
{
	FILE *file = fopen(options->file, "re");
	struct stat status;
	char *content;

	if (file == NULL || fstat(fileno(file), &status) != 0)
		fail("%s: %s", options->file, strerror(errno));
	content = user_file_allocate(options, (size_t)status.st_size, 1);
	*size = fread(content, 1, (size_t)status.st_size, file);
	if (ferror(file) || *size != (size_t)status.st_size)
		fail("%s: it cannot be read to its end", options->file);
	fclose(file);
	return content;
}

#include "persistent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "output.h"

struct persistent_writes persistent_writes;

static struct counted {
	int64_t lines, bytes;
} *counts;
static struct persistent_writes before;

void persistent_prepare(size_t transactions)
{
	counts = malloc((transactions + 1) * sizeof(*counts));
	if (counts == NULL)
		fail("no memory for what %zu transactions write to persistent memory",
		     transactions);
	/* faulted in before anything is measured */
	memset(counts, 0, (transactions + 1) * sizeof(*counts));
}

void persistent_begin(void)
{
	before = persistent_writes;
}

void persistent_end(size_t number)
{
	if (counts != NULL)
		counts[number] = (struct counted){persistent_writes.lines - before.lines,
						  persistent_writes.bytes - before.bytes};
}

void persistent_write(const char *directory, size_t transactions)
{
	FILE *file;

	if (counts == NULL)
		return;
	file = output_open(directory, "persistent.csv");
	fputs("transaction,file,lines,bytes\n", file);
	for (size_t i = 0; i < transactions; i++)
		fprintf(file, "%zu,%s,%" PRId64 ",%" PRId64 "\n", i, persistent_writes.role,
			counts[i].lines, counts[i].bytes);
	output_commit(file);
	free(counts);
	counts = NULL;
}

/* Counts the cache lines and bytes that an engine writes to persistent memory in each transaction,
 * which no block device sees, for persistent.csv. Other engines do not call this. */
#include "persistent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "output.h"

const char *persistent_role;

static struct written {
	int64_t lines, bytes;
} *written;
static size_t room, count;

void persistent_prepare(size_t transactions)
{
	room = transactions;
	written = malloc((room + 1) * sizeof(*written));
	if (written == NULL)
		fail("no memory for what %zu transactions write to persistent memory", room);
	/* faulted in before anything is measured */
	memset(written, 0, (room + 1) * sizeof(*written));
}

void persistent_note(int64_t lines, int64_t bytes)
{
	if (count < room)
		written[count++] = (struct written){lines, bytes};
}

void persistent_write(const char *directory)
{
	FILE *file;

	if (written == NULL)
		return;
	file = output_open(directory, "persistent.csv");
	fputs("transaction,file,lines,bytes\n", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%zu,%s,%" PRId64 ",%" PRId64 "\n", i, persistent_role,
			written[i].lines, written[i].bytes);
	output_commit(file);
}

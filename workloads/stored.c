/* Records an engine's stores to persistent memory, which no block device sees: cache lines and
 * bytes of each transaction, for persistent.csv; and each store to a mapped file, for crash trials
 * (trials/pmem_lines.h). */
#include "stored.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "grow.h"
#include "output.h"

static struct stored_header header;
static unsigned char *base; /* the file's bytes when the run began */
static struct stored_call *calls;
static unsigned char *content; /* of all copies */
static size_t call_room, content_room;
static bool noting, running;

void stored_begin(void)
{
	noting = true;
}

void stored_open(const char *path, const void *bytes, int64_t size)
{
	if (!noting)
		return;
	if (running)
		fail("--written: %s is mapped within the run", path);
	if (strlen(path) >= STORED_NAME)
		fail("--written: too long a name: %s", path);
	free(base);
	base = malloc((size_t)size);
	if (base == NULL)
		fail("--written: no memory for %s, %lld bytes", path, (long long)size);
	memcpy(base, bytes, (size_t)size);
	header = (struct stored_header){.magic = STORED_MAGIC, .size = (uint64_t)size};
	snprintf(header.path, sizeof(header.path), "%s", path);
}

static void note(enum stored_kind kind, int64_t size, int64_t offset)
{
	calls = grown(calls, header.calls + 1, &call_room, sizeof(*calls),
		      "notes of what was stored");
	calls[header.calls++] = (struct stored_call){kind, (uint64_t)offset, (uint64_t)size};
}

static bool is_open(void)
{
	return noting && base != NULL;
}

void stored_copy(const void *bytes, int64_t size, int64_t offset)
{
	if (!is_open())
		return;
	if (!running) {
		memcpy(base + offset, bytes, (size_t)size);
		return;
	}
	note(STORED_COPY, size, offset);
	content = grown(content, header.bytes + (size_t)size, &content_room, 1,
			"bytes that were stored");
	memcpy(content + header.bytes, bytes, (size_t)size);
	header.bytes += (uint64_t)size;
}

void stored_clean(int64_t size, int64_t offset)
{
	if (is_open() && running)
		note(STORED_CLEAN, size, offset);
}

void stored_delete(const char *path)
{
	if (is_open() && running && strcmp(path, header.path) == 0)
		note(STORED_DELETE, 0, 0);
}

void stored_run(void)
{
	running = true;
}

void stored_save(const char *path)
{
	FILE *to;

	noting = running = false;
	if (base == NULL)
		return;
	to = fopen(path, "wb");
	if (to == NULL)
		fail("%s: %s", path, strerror(errno));
	output_bytes(to, path, &header, sizeof(header));
	output_bytes(to, path, base, header.size);
	output_bytes(to, path, calls, header.calls * sizeof(*calls));
	output_bytes(to, path, content, header.bytes);
	if (fclose(to) != 0)
		fail("%s: %s", path, strerror(errno));
}

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

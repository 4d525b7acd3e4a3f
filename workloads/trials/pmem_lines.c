/* Parses a crash trial's words for persistent memory, and rebuilds the file that an engine maps
 * from it as that power cut leaves it, from the run's stores and cleaned lines (stored.h): lines of
 * 64 bytes may lose stores. */
#include "pmem_lines.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "grow.h"
#include "stored.h"

/* A CPU's cache line, and the unit in which its stores are atomic. */
enum { LINE = 64, WORD = 8 };

static struct stored_header header;
static unsigned char *base, *content;
static struct stored_call *calls;
/* The file as stored after some calls, and as cleaned by then. */
static unsigned char *now, *durable;
static bool is_known;

/* The trial's request. */
static int64_t call_count; /* calls; -1: not given */
static bool is_there;
struct lost {
	uint64_t first, last;
	unsigned words;
};
static struct lost *lost;
static size_t lost_count, lost_room;

static void *room(size_t size)
{
	void *memory = malloc(size ? size : 1);

	if (memory == NULL)
		fail("no memory for what the engine stored, %zu bytes", size);
	return memory;
}

static void *get(FILE *from, const char *path, size_t size)
{
	void *memory = room(size);

	if (size > 0 && fread(memory, 1, size, from) != size)
		fail("%s is truncated", path);
	return memory;
}

void lines_prepare(const char *written, const char *persistent)
{
	char path[PATH_MAX];
	FILE *from;

	if (written == NULL || persistent == NULL)
		return;
	snprintf(path, sizeof(path), "%s-stored", written);
	from = fopen(path, "rb");
	if (from == NULL)
		fail("%s: %s", path, strerror(errno));
	if (fread(&header, sizeof(header), 1, from) != 1 || header.magic != STORED_MAGIC)
		fail("%s is not a file of an engine's stores", path);
	base = get(from, path, header.size);
	calls = get(from, path, header.calls * sizeof(*calls));
	content = get(from, path, header.bytes);
	fclose(from);
	for (uint64_t i = 0; i < header.calls; i++)
		if (calls[i].offset > header.size || calls[i].size > header.size - calls[i].offset)
			fail("%s: call %" PRIu64 " lies behind the file's end", path, i);
	now = room(header.size);
	durable = room(header.size);
	is_known = true;
}

void lines_begin(void)
{
	call_count = -1;
	is_there = false;
	lost_count = 0;
}

bool lines_is_word(const char *word)
{
	return isalpha((unsigned char)word[0]);
}

void lines_word(const char *trial, const char *word)
{
	uint64_t lines = (header.size + LINE - 1) / LINE;
	struct lost one;
	int end = 0;

	if (strcmp(word, "there") == 0) {
		is_there = true;
	} else if (sscanf(word, "calls:%" SCNd64 "%n", &call_count, &end) == 1 &&
		   word[end] == '\0') {
		if (call_count < 0 || (uint64_t)call_count > header.calls)
			fail("trial %s: '%s', and the run has %" PRIu64 " such calls", trial, word,
			     header.calls);
	} else if ((sscanf(word, "lost:%" SCNu64 "-%" SCNu64 ":%x%n", &one.first, &one.last,
			   &one.words, &end) == 3 ||
		    (sscanf(word, "lost:%" SCNu64 ":%x%n", &one.first, &one.words, &end) == 2 &&
		     (one.last = one.first, true))) &&
		   word[end] == '\0' && one.first <= one.last && one.last < lines &&
		   one.words < 1 << LINE / WORD) {
		lost = grown(lost, lost_count + 1, &lost_room, sizeof(*lost),
			     "lines that lost stores");
		lost[lost_count++] = one;
	} else {
		fail("trial %s: '%.40s' is not a word of persistent memory", trial, word);
	}
}

/* Rebuilds the file as stored and as cleaned by the first calls; returns whether it was deleted. */
static bool repeat(uint64_t count)
{
	const unsigned char *bytes = content;
	bool deleted = false;

	memcpy(now, base, header.size);
	memcpy(durable, base, header.size);
	for (const struct stored_call *call = calls; call < calls + count; call++) {
		uint64_t begin = call->offset / LINE * LINE, end = call->offset + call->size;

		switch ((enum stored_kind)call->kind) {
		case STORED_COPY:
			memcpy(now + call->offset, bytes, call->size);
			bytes += call->size;
			break;
		case STORED_CLEAN:
			end = (end + LINE - 1) / LINE * LINE;
			end = end < header.size ? end : header.size;
			memcpy(durable + begin, now + begin, end - begin);
			break;
		case STORED_DELETE:
			deleted = true;
			break;
		}
	}
	return deleted;
}

static void lose(void)
{
	for (const struct lost *one = lost; one < lost + lost_count; one++)
		for (uint64_t line = one->first; line <= one->last; line++)
			for (unsigned word = 0; word < LINE / WORD; word++) {
				uint64_t at = line * LINE + (uint64_t)word * WORD;
				uint64_t left = at < header.size ? header.size - at : 0;

				if ((one->words >> word & 1) != 0)
					memcpy(now + at, durable + at, left < WORD ? left : WORD);
			}
}

static void write_file(void)
{
	int fd = open(header.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		fail("%s: %s", header.path, strerror(errno));
	for (uint64_t done = 0; done < header.size;) {
		ssize_t put = write(fd, now + done, header.size - done);

		if (put <= 0)
			fail("writing %s: %s", header.path, strerror(errno));
		done += (uint64_t)put;
	}
	if (fsync(fd) != 0 || close(fd) != 0)
		fail("writing %s: %s", header.path, strerror(errno));
}

void lines_show(const char *trial)
{
	bool deleted;

	if (!is_known && call_count < 0 && lost_count == 0 && !is_there)
		return;
	if (!is_known || call_count < 0)
		fail("trial %s: its plan %s persistent memory, and the run had %s", trial,
		     call_count < 0 ? "lacks" : "has", is_known ? "some" : "none");
	deleted = repeat((uint64_t)call_count);
	if (is_there && !deleted)
		fail("trial %s: `there`, but the run had not deleted %s by then", trial,
		     header.path);
	lose();
	if (unlink(header.path) != 0 && errno != ENOENT)
		fail("removing %s: %s", header.path, strerror(errno));
	if (!deleted || is_there)
		write_file();
}

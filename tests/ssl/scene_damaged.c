/* The scene `bytes LOG|PAGES STEP`: power is cut, each STEPth byte of the log, or of the file of
 * its checkpoints, is changed, one at a time, and the database is opened. It must be refused in one
 * line, all files left as they are, or be what it was after some of the transactions; of a page log
 * after all but the last, as its commit words tell whether the rest is there.
 *
 * Prints how many there were, and what became of them; what went wrong also on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "scene.h"
#include "state.h"

enum { STATES = 15, NAMES = 3 };

static uint64_t states[STATES];
static char pages_name[16];
static const char *const names[NAMES] = {"a.db", log_name, pages_name};
static const char *const copies[NAMES] = {"kept", "kept-log", "kept-pages"};

/* A database with transactions in its log, of which some were in a checkpoint. */
static void live(enum kept kept)
{
	struct target ours = {0};
	struct error error;

	disk_empty();
	open_target(&ours, false);
	check(load_create(&ours) == SQLITE_OK, "created");
	for (int64_t number = 0; number < 10; number++)
		load_transaction(&ours, MIX_PLAIN, 2, number);
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	for (int i = 0; i < STATES; i++) {
		if (i > 0)
			load_transaction(&ours, MIX_PLAIN, 1, i);
		states[i] = load_hash(ours.db, false);
	}
	scene_crash(ours.ssl, kept);
}

static bool same(const char *left, const char *right)
{
	const struct data *a = &entry_find(left, false)->now, *b = &entry_find(right, false)->now;

	return a->size == b->size && memcmp(a->bytes, b->bytes, (size_t)a->size) == 0;
}

/* How many transactions are lost; -1: it was refused; less: it went wrong. */
static int opened(int which)
{
	struct ssl *ssl;
	struct error error;
	uint64_t hash;
	int lost = 0;

	if (!ssl_open("a.db", SQLITE_OPEN_READWRITE, &options, &ssl, &error)) {
		bool well = error.text[0] != '\0' && strchr(error.text, '\n') == NULL;

		for (int i = 0; i < NAMES; i++)
			well &= same(names[i], i == which ? "spoiled" : copies[i]);
		return well ? -1 : -2;
	}
	hash = load_intact(ssl_db(ssl)) ? load_hash(ssl_db(ssl), false) : 0;
	while (lost < STATES && states[STATES - 1 - lost] != hash)
		lost++;
	scene_close(ssl);
	return lost < STATES ? lost : -2;
}

static void spoil(int which, int64_t at, int bit)
{
	for (int i = 0; i < NAMES; i++)
		disk_copy(copies[i], names[i]);
	disk_edit(names[which], at,
		  (uint8_t)(entry_find(copies[which], false)->now.bytes[at] ^ (1 << bit)));
	disk_copy(names[which], "spoiled");
}

void damaged_bytes(void)
{
	static const enum kept cuts[] = {KEPT_NONE, KEPT_ALL};
	int tried = 0, refused = 0, all = 0, last = 0, more = 0, bad = 0;
	int which = strcmp(scene_words[0], "LOG") == 0 ? 1 : 2;
	int64_t step = strtoll(scene_words[1], NULL, 10);

	options.log_size = 16384;
	snprintf(pages_name, sizeof(pages_name), "a.db%s", log_kind.pages_suffix);
	for (size_t cut = 0; cut < sizeof(cuts) / sizeof(cuts[0]); cut++) {
		int64_t size;

		live(cuts[cut]);
		for (int i = 0; i < NAMES; i++)
			disk_copy(names[i], copies[i]);
		size = entry_find(copies[which], false)->now.size;
		for (int64_t at = 0; at < size; at += step, tried++) {
			int lost;

			spoil(which, at, tried % 8);
			lost = opened(which);
			refused += lost == -1;
			all += lost == 0;
			last += lost == 1;
			more += lost > 1;
			bad += lost < -1;
			if (lost < -1)
				fprintf(stderr, "%s: byte %lld, bit %d\n", names[which],
					(long long)at, tried % 8);
		}
	}
	printf("{\"tried\": %d, \"refused\": %d, \"all\": %d, \"last\": %d, \"more\": %d, "
	       "\"bad\": %d}\n",
	       tried, refused, all, last, more, bad);
}

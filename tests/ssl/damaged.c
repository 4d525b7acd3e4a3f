/* A byte of a log, or of the file of its checkpoints, that is another than what was written: power
 * is cut, bytes of the file are changed one at a time, and the database is opened. It must be
 * refused in one line, all files left as they are, or be what it was after some of the
 * transactions; of a page log after all but the last, as its commit words tell whether the rest is
 * there.
 *
 *   damaged LOG|PAGES STEP    each STEPth byte of the log, or of the file of checkpoints
 *
 * Prints how many there were, and what became of them; what went wrong also on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "entry.h"
#include "load.h"
#include "state.h"

enum { STATES = 15, NAMES = 3 };

static struct ssl_options options;
static uint64_t states[STATES];
static char log_name[16], pages_name[16];
static const char *const names[NAMES] = {"a.db", log_name, pages_name};
static const char *const kept[NAMES] = {"kept", "kept-log", "kept-pages"};

static void fail(const char *what)
{
	fprintf(stderr, "damaged: %s\n", what);
	exit(1);
}

/* A database with transactions in its log, of which some were in a checkpoint. */
static void live(enum kept of_cut)
{
	struct target ours = {0};
	struct error error;

	disk_empty();
	if (!ssl_open("a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &options, &ours.ssl,
		      &error))
		fail(error.text);
	ours.db = ssl_db(ours.ssl);
	if (load_create(&ours) != SQLITE_OK)
		fail("not created");
	for (int64_t number = 0; number < 10; number++)
		load_transaction(&ours, MIX_PLAIN, 2, number);
	if (!ssl_checkpoint(ours.ssl, &error))
		fail(error.text);
	for (int i = 0; i < STATES; i++) {
		if (i > 0)
			load_transaction(&ours, MIX_PLAIN, 1, i);
		states[i] = load_hash(ours.db, false);
	}
	disk_cut_now();
	ssl_close(ours.ssl, &error);
	disk_power(1, of_cut);
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
			well &= same(names[i], i == which ? "spoiled" : kept[i]);
		return well ? -1 : -2;
	}
	hash = load_intact(ssl_db(ssl)) ? load_hash(ssl_db(ssl), false) : 0;
	while (lost < STATES && states[STATES - 1 - lost] != hash)
		lost++;
	if (!ssl_close(ssl, &error))
		fail(error.text);
	return lost < STATES ? lost : -2;
}

static void spoil(int which, int64_t at, int bit)
{
	for (int i = 0; i < NAMES; i++)
		disk_copy(kept[i], names[i]);
	disk_edit(names[which], at,
		  (uint8_t)(entry_find(kept[which], false)->now.bytes[at] ^ (1 << bit)));
	disk_copy(names[which], "spoiled");
}

int main(int count, char **words)
{
	static const enum kept cuts[] = {KEPT_NONE, KEPT_ALL};
	int tried = 0, refused = 0, all = 0, last = 0, more = 0, bad = 0;
	int which = count == 3 && strcmp(words[1], "LOG") == 0 ? 1 : 2;
	int64_t step = count == 3 ? strtoll(words[2], NULL, 10) : 0;

	if (step < 1)
		return 2;
	ssl_defaults(&options);
	options.log_size = 16384;
	snprintf(log_name, sizeof(log_name), "a.db%s", log_kind.suffix);
	snprintf(pages_name, sizeof(pages_name), "a.db%s", log_kind.pages_suffix);
	disk_register();
	for (size_t cut = 0; cut < sizeof(cuts) / sizeof(cuts[0]); cut++) {
		int64_t size;

		live(cuts[cut]);
		for (int i = 0; i < NAMES; i++)
			disk_copy(names[i], kept[i]);
		size = entry_find(kept[which], false)->now.size;
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
	return 0;
}

/* Crashes of databases with a log, counted.
 *
 *   crash cuts MIX FIRST SEEDS [WORD...]    power cuts, in runs and in recoveries
 *   crash faults FAULT FIRST SEEDS [WORD]   a call that fails, at each place in turn; then a cut
 *
 * WORD, of a statement log: normal, which promises that some of the last transactions are lost
 * alone and none before a checkpoint; atomic, whose checkpoints are atomic writes; what is done
 * otherwise, paper, ignore, checkpoint, blobs, unordered or older. Of a page log: its records,
 * bytes or cells; what is left out, word or emptied. Prints one JSON object. A seed is the
 * whole story of a run. What is wrong is also a line on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "model.h"
#include "prng.h"
#ifdef PAGE_LOG
#include "pages.h"
#endif

static const char name[] = "sample.db";

struct run {
	uint64_t seed;
	enum mix mix;
	struct ssl_options options;
	struct target ours, plain;
	struct history history;
	int64_t number;	  /* of the next transaction */
	uint64_t full;	  /* hash of what is acknowledged */
	bool failed_last; /* a transaction ended with an error, and none came after it */
	const char *bad;
};

static int64_t recoveries, bad_runs, cut_recoveries, acknowledged, in_flight, lost, replayed,
	failures;
static int64_t cases[SSL_CASES], checkpoints[SSL_REASONS];
static struct prng state;

static uint64_t draw(uint64_t below)
{
	return prng_next(&state) % below;
}

static void wrong(struct run *run, const char *what, const char *more)
{
	if (run->bad == NULL)
		fprintf(stderr, "seed %llu, transaction %lld: %s%s%s\n",
			(unsigned long long)run->seed, (long long)run->number, what,
			more[0] != '\0' ? ": " : "", more);
	run->bad = what;
}

static bool open_ours(struct run *run, struct error *error)
{
	return load_open(&run->ours, name, &run->options, error);
}

static void close_ours(struct run *run)
{
	struct ssl_stats stats = ssl_stats(run->ours.ssl);
	struct error error;

	load_end_reading(&run->ours);
	for (int i = 0; i < SSL_REASONS; i++)
		checkpoints[i] += stats.checkpoints[i];
	if (!ssl_close(run->ours.ssl, &error) && !disk_is_cut())
		wrong(run, "closing failed", error.text);
	/* closed, all of it is there */
	if (!disk_is_cut())
		history_free(&run->history);
	run->ours.ssl = NULL;
}

/* Whether what is there is what it was, or what the transaction in flight makes of it; then it is
 * that from now on. */
static bool same_or_next(struct run *run, sqlite3 *db, bool coarse_only, bool may_be_next)
{
	sqlite3 *before;
	uint64_t found = load_hash(db, true);
	bool next;

	if (!coarse_only && load_hash(db, false) == run->full)
		return true;
	if (coarse_only && found == load_hash(run->plain.db, true))
		return true;
	if (!may_be_next)
		return false;
	before = model_open();
	model_copy(before, run->plain.db);
	load_transaction(&run->plain, run->mix, run->seed, run->number);
	next = found == load_hash(run->plain.db, true);
	load_end_reading(&run->plain);
	if (!next)
		model_copy(run->plain.db, before);
	sqlite3_close(before);
	if (next)
		run->full = load_hash(db, false);
	return next;
}

/* What is there may come back, where the log is not synced at each commit. */
static void note(struct run *run)
{
	if (run->options.synchronous == SSL_NORMAL)
		history_note(&run->history, run->ours.ssl, run->plain.db, run->full);
}

/* What is there stays. */
static void begin_history(struct run *run)
{
	history_free(&run->history);
	note(run);
}

/* Whether what is there is what it was before some of the last transactions. */
static bool same_or_earlier(struct run *run, sqlite3 *db)
{
	uint64_t found = load_hash(db, false);
	int64_t gone = history_lost(&run->history, run->plain.db, found);

	if (gone < 0)
		return false;
	lost += gone;
	run->full = found;
	return true;
}

/* A cache that a transaction does not fit in: pages go to the WAL before it commits. */
static int set_cache(sqlite3 *db, void *pages)
{
	char text[40];

	snprintf(text, sizeof(text), "PRAGMA cache_size=%d", *(const int *)pages);
	return sqlite3_exec(db, text, NULL, NULL, NULL);
}

static bool begin(struct run *run)
{
	static const char *const encodings[] = {"PRAGMA encoding='UTF-8'",
						"PRAGMA encoding='UTF-16le'",
						"PRAGMA encoding='UTF-16be'"};
	const char *encoding;
	static const int caches[] = {-2000, 3};
	static const int64_t sizes[] = {4096, 8192, 32768, 131072};
	static const int64_t dirty[] = {0, 6, 40, 1024};
	static char creation[96];
	struct error error;

	disk_empty();
	state.state = run->seed;
	snprintf(creation, sizeof(creation), "PRAGMA page_size=%d;PRAGMA auto_vacuum=%d",
		 512 << draw(8), (int)draw(3));
	encoding = encodings[draw(3)];
	run->options.connected = set_cache;
	run->options.argument = (void *)&caches[draw(2)];
	run->options.creation = creation;
	run->options.log_size = sizes[draw(4)];
	run->options.dirty = dirty[draw(4)];
	run->options.full = 30 + (int64_t)draw(71);
#ifdef PAGE_LOG
	run->options.sector = INT64_C(64) << draw(6);
#endif
	if (!open_ours(run, &error)) {
		wrong(run, "creation failed", error.text);
		return false;
	}
	run->plain.db = model_open();
	sqlite3_exec(run->plain.db, creation, NULL, NULL, NULL);
	sqlite3_exec(run->plain.db, encoding, NULL, NULL, NULL);
	if (ssl_exec(run->ours.ssl, encoding) != SQLITE_OK ||
	    load_create(&run->ours) != SQLITE_OK || load_create(&run->plain) != SQLITE_OK)
		wrong(run, "the schema was not made", sqlite3_errmsg(run->ours.db));
	if (run->options.synchronous == SSL_NORMAL && !ssl_checkpoint(run->ours.ssl, &error))
		wrong(run, "no checkpoint was made", error.text);
	/* random numbers are in it */
	run->full = load_hash(run->ours.db, false);
	begin_history(run);
	return run->bad == NULL;
}

/* One transaction on ours and, if it is acknowledged, on the other. */
static void transaction(struct run *run)
{
	int result;

	disk_memory(true);
	result = load_transaction(&run->ours, run->mix, run->seed, run->number);
	disk_memory(false);
	if (disk_is_cut())
		return;
	if (result != SQLITE_OK) {
		failures++;
		/* after an error of the disk's SQLite reads nothing until all statements are over
		 */
		load_end_reading(&run->ours);
		if (!disk_failed())
			wrong(run, "a transaction failed", sqlite3_errmsg(run->ours.db));
		/* It is rolled back, or an error came behind its commit. */
		else if (!same_or_next(run, run->ours.db, true, true))
			wrong(run, "a failed transaction left something", "");
		run->full = load_hash(run->ours.db, false);
		run->failed_last = true;
		run->number++;
		note(run);
		return;
	}
	load_transaction(&run->plain, run->mix, run->seed, run->number);
	load_end_reading(&run->plain);
	acknowledged++;
	run->failed_last = false;
	run->full = load_hash(run->ours.db, false);
	if (load_hash(run->ours.db, true) != load_hash(run->plain.db, true))
		wrong(run, "it differs from SQLite's", "");
	run->number++;
	note(run);
}

/* A SQLite that knows nothing of the log must not open the database while one is live. */
static void open_unaware(struct run *run)
{
	sqlite3 *db;
	bool opened;

	if (!disk_there(name))
		return;
	opened = sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK &&
		 sqlite3_exec(db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) ==
			 SQLITE_OK;
	/* closed well, or not begun yet, it may */
	if (opened && !same_or_next(run, db, false, true) && !same_or_earlier(run, db))
		wrong(run, "SQLite opened it without its log", "");
	sqlite3_close(db);
}

static void recover(struct run *run, bool in_it, bool may_be_next)
{
	struct error error;
	uint64_t before;
	bool opened = false;

	disk_power(draw(UINT64_C(1) << 60), (enum kept)draw(KEPTS));
	for (int depth = 0; in_it && depth < 3 && draw(2) == 0; depth++) {
		if (draw(2) == 0)
			open_unaware(run);
		disk_cut_after(1 + (int64_t)draw(draw(2) == 0 ? 20 : 120));
		opened = open_ours(run, &error);
		if (opened)
			break;
		if (!disk_is_cut()) {
			wrong(run, "recovery failed", error.text);
			return;
		}
		cut_recoveries++;
		disk_power(draw(UINT64_C(1) << 60), (enum kept)draw(KEPTS));
	}
	disk_cut_after(0);
	if (!opened && draw(2) == 0)
		open_unaware(run);
	if (!opened && !open_ours(run, &error)) {
		wrong(run, "recovery failed", error.text);
		return;
	}
	recoveries++;
	cases[ssl_stats(run->ours.ssl).found]++;
	replayed += ssl_stats(run->ours.ssl).replayed;
	sqlite3_exec(run->plain.db, model_reopened, NULL, NULL, NULL);
	before = run->full;
	if (same_or_next(run, run->ours.db, false, may_be_next))
		in_flight += run->full != before;
	else if (!same_or_earlier(run, run->ours.db))
		wrong(run, "what is there is neither", "");
	begin_history(run);
	if (!load_intact(run->ours.db))
		wrong(run, "it is damaged", "");
	run->number++;
}

static void end(struct run *run)
{
	load_end_reading(&run->ours);
	if (run->ours.ssl != NULL)
		close_ours(run);
	if (run->bad == NULL && (disk_there("sample.db-sla") || disk_there("sample.db-ppl")))
		wrong(run, "a closed database has a log", "");
	if (run->bad == NULL)
		open_unaware(run);
	history_free(&run->history);
	sqlite3_close(run->plain.db);
	bad_runs += run->bad != NULL;
}

static void cuts(struct run *run)
{
	if (begin(run)) {
		for (int round = 0; run->bad == NULL && round < 4; round++) {
			disk_cut_after(1 + (int64_t)draw(draw(2) == 0 ? 400 : 60));
			for (int i = 0; i < 40 && run->bad == NULL && !disk_is_cut(); i++)
				transaction(run);
			disk_cut_now();
			close_ours(run);
			if (run->bad == NULL)
				recover(run, true, true);
			if (run->ours.ssl == NULL)
				break;
		}
	}
	end(run);
}

/* A call fails in a run or in an opening; what follows must be well, and what is acknowledged
 * there. */
static void faults(struct run *run, enum fault fault)
{
	struct error error;

	if (begin(run)) {
		for (int round = 0; run->bad == NULL && round < 6; round++) {
			bool opening = draw(4) == 0;

			if (opening) {
				close_ours(run);
				if (draw(2) == 0)
					run->bad = NULL;
			}
			disk_fail(fault, 1 + (int64_t)draw(fault == FAULT_NOMEM ? 2500 : 60));
			if (opening) {
				disk_memory(true);
				if (!open_ours(run, &error) && !disk_failed())
					wrong(run, "opening failed", error.text);
				disk_memory(false);
				if (run->ours.ssl == NULL && !open_ours(run, &error)) {
					wrong(run, "opening failed again", error.text);
					break;
				}
				begin_history(run);
			}
			for (int i = 0; i < 6 && run->bad == NULL; i++)
				transaction(run);
			disk_fail(FAULT_NONE, 0);
			for (uint64_t i = draw(4); i > 0 && run->bad == NULL; i--)
				transaction(run);
			if (run->bad != NULL || draw(2) == 0)
				continue;
			/* the last transaction is the one that may be there all the same */
			if (run->failed_last)
				run->number--;
			disk_cut_now();
			close_ours(run);
			recover(run, false, run->failed_last);
			if (run->ours.ssl == NULL)
				break;
		}
	}
	end(run);
}

static int place(const char *word, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	fprintf(stderr, "crash: %s is not known\n", word);
	exit(2);
}

#ifdef PAGE_LOG
static void set_word(struct ssl_options *options, const char *word)
{
	static const char *const words[] = {"bytes", "cells", "word", "emptied"};
	int found = place(word, words, 4);

	if (found < 2)
		options->record = found;
	else
		options->left_out = found == 2 ? PPL_COMMIT_UNASKED : PPL_NOT_EMPTIED;
}
#else
static void set_word(struct ssl_options *options, const char *word)
{
	static const char *const words[] = {"paper",	 "ignore", "checkpoint", "blobs",
					    "unordered", "normal", "atomic",	 "older"};

	switch (place(word, words, 8)) {
	case 0:
		options->recovery = SSL_PAPER;
		break;
	case 1:
		options->policy = SSL_IGNORE;
		break;
	case 2:
		options->policy = SSL_CHECKPOINT;
		break;
	case 3:
		options->left_out = SSL_BLOBS_UNNOTICED;
		break;
	case 4:
		options->left_out = SSL_RESET_UNSYNCED;
		break;
	case 5:
		options->synchronous = SSL_NORMAL;
		break;
	case 6:
		options->atomic = true;
		break;
	default:
		options->left_out = SSL_OLDER_WAL;
	}
}
#endif

int main(int count, char **words)
{
	static const char *const kinds[] = {"none", "eio", "full", "short", "nomem"};
	struct ssl_options options;
	uint64_t first, seeds;
	bool cutting;
	int what;

	if (count < 5)
		return 2;
	ssl_defaults(&options);
	cutting = strcmp(words[1], "cuts") == 0;
	what = cutting ? place(words[2], mixes, MIXES) : place(words[2], kinds, 5);
	first = strtoull(words[3], NULL, 10);
	seeds = strtoull(words[4], NULL, 10);
	for (int i = 5; i < count; i++)
		set_word(&options, words[i]);
	disk_register();
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		struct run run = {.seed = seed, .options = options};

		run.mix = cutting ? (enum mix)what : MIX_ALL;
		if (cutting)
			cuts(&run);
		else
			faults(&run, (enum fault)what);
	}
	printf("{\"runs\": %llu, \"bad\": %lld, \"recoveries\": %lld, \"cut recoveries\": %lld",
	       (unsigned long long)seeds, (long long)bad_runs, (long long)recoveries,
	       (long long)cut_recoveries);
	printf(", \"acknowledged\": %lld, \"in flight\": %lld, \"lost\": %lld, \"replayed\": %lld",
	       (long long)acknowledged, (long long)in_flight, (long long)lost, (long long)replayed);
	printf(", \"failures\": %lld", (long long)failures);
	load_print("cases", ssl_cases, cases, SSL_CASES);
	load_print("checkpoints", ssl_reasons, checkpoints, SSL_REASONS);
	printf("}\n");
	return 0;
}

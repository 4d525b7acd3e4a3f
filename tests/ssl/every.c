/* Runs a short life of SQLite/SSL again for each disk call or allocation, which fails or loses
 * power:
 *
 *   every KIND [FIRST STEP]     every STEPth call, from FIRST on; else all of them
 *
 * KIND: eio, full, short and nomem fail once; full-disk and eio-on fail from there on until the
 * program has tried three more things; cut is a power cut, killed the end of the process alone.
 * Prints one JSON object. What is wrong is also a line on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "model.h"

enum { SEED = 8, MOST = 64 };

/* Opening, schema, transaction, power cut that leaves what was synced alone, closing: what a log
 * and its recoveries do is in it, as the counts say. */
static const char life[] = "ostttttttttttt!otttt!ottt.ott.";
static const char name[] = "sample.db";

enum ill { FAILS, LASTS, CUT, KILLED };

struct kind {
	const char *name;
	enum ill ill;
	enum fault fault;
};

static const struct kind kinds[] = {
	{"eio", FAILS, FAULT_EIO},	  {"full", FAILS, FAULT_FULL},
	{"short", FAILS, FAULT_SHORT},	  {"nomem", FAILS, FAULT_NOMEM},
	{"full-disk", LASTS, FAULT_FULL}, {"eio-on", LASTS, FAULT_EIO},
	{"cut", CUT, FAULT_NONE},	  {"killed", KILLED, FAULT_NONE},
};

struct run {
	struct ssl_options options;
	struct target ours;
	int64_t number;	      /* of the next transaction */
	bool made;	      /* the schema */
	int64_t events[MOST]; /* numbers of what is acknowledged, and REOPENED */
	int count;
	int64_t at; /* the call */
	bool cut;   /* it is a cut's */
	bool bad;
};

/* What all rows are after each step of a life without faults: values that are random, too. */
static uint64_t whole[sizeof(life)];
static int64_t bad, failed, unseen, not_opened, not_closed, in_flight, recoveries, replayed;
static int64_t cases[SSL_CASES];

static void wrong(struct run *run, const char *what, const char *more)
{
	if (!run->bad)
		fprintf(stderr, "call %lld, transaction %lld: %s%s%s\n", (long long)run->at,
			(long long)run->number, what, more[0] != '\0' ? ": " : "", more);
	run->bad = true;
}

/* What SQLite alone makes of what is acknowledged, and of one transaction more, if there is one. */
static uint64_t expected(const struct run *run, int64_t more)
{
	int64_t events[MOST + 1];

	memcpy(events, run->events, sizeof(run->events));
	events[run->count] = more;
	return model_hash(SEED, run->made, events, run->count + 1);
}

static void note(struct run *run, int64_t event)
{
	run->events[run->count++] = event;
}

/* What is there must be what is acknowledged, or that and one transaction more. */
static void compare(struct run *run, sqlite3 *db, int64_t maybe)
{
	uint64_t found = load_hash(db, true);

	if (found == expected(run, REOPENED))
		return;
	if (maybe == REOPENED || found != expected(run, maybe)) {
		wrong(run, "what is there is neither", "");
		return;
	}
	in_flight++;
	note(run, maybe);
}

static bool there(sqlite3 *db)
{
	bool is;

	disk_pause(true);
	is = sqlite3_exec(db, "SELECT 1 FROM t", NULL, NULL, NULL) == SQLITE_OK;
	disk_pause(false);
	return is;
}

static bool try_open(struct run *run, struct error *error)
{
	bool opened;

	disk_memory(true);
	opened = load_open(&run->ours, name, &run->options, error);
	disk_memory(false);
	if (opened)
		note(run, REOPENED);
	return opened;
}

/* Opens what a crash, or a closing that failed, left. */
static void recover(struct run *run, int64_t maybe)
{
	struct error error;

	if (!try_open(run, &error)) {
		wrong(run, "it cannot be opened", error.text);
		return;
	}
	recoveries++;
	cases[ssl_stats(run->ours.ssl).found]++;
	replayed += ssl_stats(run->ours.ssl).replayed;
	if (run->made || there(run->ours.db)) {
		run->made = true;
		compare(run, run->ours.db, maybe);
	}
	if (!load_intact(run->ours.db))
		wrong(run, "it is damaged", "");
}

static void crash(struct run *run, bool killed, enum kept kept)
{
	struct error error;

	disk_cut_now();
	load_end_reading(&run->ours);
	if (run->ours.ssl != NULL)
		ssl_close(run->ours.ssl, &error);
	run->ours = (struct target){0};
	if (killed)
		disk_killed();
	else
		disk_power((uint64_t)run->at, kept);
}

/* A transaction, or the schema; false: it failed, and is rolled back or behind its commit. */
static bool change(struct run *run, bool schema)
{
	int result;

	disk_memory(true);
	result = schema ? model_make(&run->ours)
			: load_transaction(&run->ours, MIX_ALL, SEED, run->number);
	disk_memory(false);
	if (disk_is_cut())
		return false;
	if (result == SQLITE_OK && schema)
		run->made = true;
	else if (result == SQLITE_OK)
		note(run, run->number++);
	if (result == SQLITE_OK)
		return true;
	failed++;
	/* while a statement is open SQLite says its error again to whoever reads */
	load_end_reading(&run->ours);
	if (!disk_failed())
		wrong(run, "a transaction failed", sqlite3_errmsg(run->ours.db));
	if (schema)
		run->made = there(run->ours.db);
	else
		compare(run, run->ours.db, run->number++);
	return false;
}

static bool close_ours(struct run *run)
{
	struct error error;
	bool closed;

	load_end_reading(&run->ours);
	disk_memory(true);
	closed = ssl_close(run->ours.ssl, &error);
	disk_memory(false);
	run->ours = (struct target){0};
	if (!closed && !disk_is_cut() && !disk_failed())
		wrong(run, "it cannot be closed", error.text);
	return closed;
}

static void arm(const struct run *run)
{
	if (run->cut)
		disk_cut_after(run->at - disk_calls());
}

/* One step; false: what was to go wrong did. */
static bool step(struct run *run, char what)
{
	struct error error;

	switch (what) {
	case 'o':
		if (!try_open(run, &error) && !disk_is_cut()) {
			not_opened++;
			if (!disk_failed())
				wrong(run, "it cannot be opened", error.text);
		}
		break;
	case '!':
		crash(run, false, KEPT_NONE);
		arm(run);
		break;
	case '.':
		not_closed += !close_ours(run);
		break;
	default:
		change(run, what == 's');
	}
	return !disk_failed() && !disk_is_cut() && !run->bad;
}

/* SQLite without the log sees all of it, or refuses it. */
static void look_unaware(struct run *run, bool must_open, int64_t maybe)
{
	sqlite3 *db;
	bool opened;

	if (!disk_there(name) || !run->made)
		return;
	opened =
		sqlite3_open_v2(name, &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK && there(db);
	if (opened)
		compare(run, db, maybe);
	else if (must_open)
		wrong(run, "closed, it is not SQLite's", "");
	sqlite3_close(db);
}

/* All is well from here on: what is there stays, whatever comes. */
static void go_on(struct run *run)
{
	uint64_t before;

	if (!run->made && !change(run, true))
		return;
	for (int i = 0; i < 2 && !run->bad; i++)
		change(run, false);
	before = load_hash(run->ours.db, false);
	if (run->at % 3 == 0)
		close_ours(run);
	else
		crash(run, run->at % 3 == 1, (enum kept)(run->at / 3 % KEPTS));
	if (run->bad)
		return;
	recover(run, REOPENED);
	if (!run->bad && load_hash(run->ours.db, false) != before)
		wrong(run, "what is there has other values", "");
	if (!run->bad && change(run, false) && close_ours(run)) {
		if (disk_there("sample.db-sla") || disk_there("sample.db-wal"))
			wrong(run, "a closed database has a log", "");
		look_unaware(run, true, REOPENED);
	}
}

static void after_failure(struct run *run, bool lasts)
{
	unseen += run->ours.ssl != NULL && run->count > 0 &&
		  run->events[run->count - 1] == run->number - 1;
	if (run->ours.ssl == NULL && lasts)
		try_open(run, &(struct error){{0}});
	if (run->ours.ssl != NULL && run->made)
		for (int i = 0; lasts && i < 3 && !run->bad; i++)
			change(run, false);
	disk_fail(FAULT_NONE, 0);
	if (!run->bad && run->ours.ssl == NULL)
		recover(run, REOPENED);
	if (!run->bad)
		go_on(run);
}

static void after_crash(struct run *run, const struct kind *kind, int at)
{
	int64_t maybe = life[at] == 't' ? run->number : REOPENED;
	struct error error;

	crash(run, kind->ill == KILLED, (enum kept)(run->at % KEPTS));
	/* a power cut in the recovery of what was not synced */
	if (kind->ill == KILLED && run->at % 2 == 0) {
		disk_cut_after(1 + run->at / 2 % 40);
		if (!try_open(run, &error) && !disk_is_cut())
			wrong(run, "it cannot be opened", error.text);
		crash(run, false, (enum kept)(run->at / 2 % KEPTS));
	}
	if (run->made && run->at / KEPTS % 2 == 0)
		look_unaware(run, false, maybe);
	recover(run, maybe);
	if (!run->bad && at > 0 && run->events[run->count - 1] == REOPENED && whole[at - 1] != 0 &&
	    load_hash(run->ours.db, false) != whole[at - 1] && life[at] != 's')
		wrong(run, "what is there has other values", "");
	run->number += life[at] == 't';
	if (!run->bad)
		go_on(run);
}

/* A life; `kind` NULL: nothing goes wrong, and what there is is noted. */
static void live(struct run *run, const struct kind *kind)
{
	int at;

	disk_empty();
	run->options.creation = "PRAGMA page_size=512;PRAGMA auto_vacuum=1";
	run->cut = kind != NULL && kind->ill >= CUT;
	arm(run);
	if (kind != NULL && !run->cut)
		disk_fail(kind->fault, run->at);
	disk_lasts(kind != NULL && kind->ill == LASTS);
	for (at = 0; life[at] != '\0' && step(run, life[at]); at++)
		if (kind == NULL && run->ours.ssl != NULL && run->made)
			whole[at] = load_hash(run->ours.db, false);
		else if (kind == NULL && at > 0)
			whole[at] = whole[at - 1];
	if (kind == NULL && life[at] != '\0')
		wrong(run, "without a fault it ended early", "");
	if (kind != NULL && life[at] == '\0')
		wrong(run, "nothing went wrong", "");
	if (run->bad || kind == NULL)
		return;
	if (kind->ill >= CUT)
		after_crash(run, kind, at);
	else
		after_failure(run, kind->ill == LASTS);
}

static void end(struct run *run)
{
	bad += run->bad;
	disk_fail(FAULT_NONE, 0);
	disk_cut_after(0);
	load_end_reading(&run->ours);
	if (run->ours.ssl != NULL) {
		run->bad = true;
		close_ours(run);
	}
}

static void print_counts(int64_t all, int64_t runs)
{
	printf("{\"calls\": %lld, \"runs\": %lld, \"bad\": %lld, \"failed\": %lld, \"unseen\": "
	       "%lld",
	       (long long)all, (long long)runs, (long long)bad, (long long)failed,
	       (long long)unseen);
	printf(", \"not opened\": %lld, \"not closed\": %lld, \"in flight\": %lld",
	       (long long)not_opened, (long long)not_closed, (long long)in_flight);
	printf(", \"recoveries\": %lld, \"replayed\": %lld", (long long)recoveries,
	       (long long)replayed);
	load_print("cases", ssl_cases, cases, SSL_CASES);
	printf("}\n");
}

int main(int count, char **words)
{
	const struct kind *kind = NULL;
	struct run run = {0};
	struct ssl_options options;
	int64_t all, runs = 0, first = 1, by = 1;

	for (size_t i = 0; count > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(words[1], kinds[i].name) == 0)
			kind = &kinds[i];
	if (kind == NULL)
		return 2;
	if (count > 3) {
		first = strtoll(words[2], NULL, 10);
		by = strtoll(words[3], NULL, 10);
	}
	ssl_defaults(&options);
	options.log_size = 4096;
	options.dirty = 30;
	disk_register();
	run.options = options;
	live(&run, NULL);
	all = kind->fault == FAULT_NOMEM ? disk_allocations() : disk_calls();
	end(&run);
	for (int64_t at = first; at <= all && by > 0; at += by) {
		run = (struct run){.options = options, .at = at};
		live(&run, kind);
		end(&run);
		runs++;
	}
	print_counts(all, runs);
	return 0;
}

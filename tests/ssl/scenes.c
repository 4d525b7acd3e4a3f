/* Plays a scene (scene.h): `scenes NAME [WORD...]`. Those of any log are here: files that are
 * another's, missing, damaged or of no size, and what a program must not do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"
#include "state.h"

/* A recovery in which a call fails, each in turn, leaves all to the next one. */
static void interrupted(void)
{
	struct ssl *ssl;
	struct error error;
	bool opened = false, failed = true;

	for (int64_t call = 1; !opened || failed; call++) {
		disk_empty();
		make_live("a.db");
		disk_fail(FAULT_EIO, call);
		opened = ssl_open("a.db", flags, &options, &ssl, &error);
		failed = disk_failed();
		disk_fail(FAULT_NONE, 0);
		if (!opened)
			ssl = scene_open("a.db");
		check(load_hash(ssl_db(ssl), false) == acknowledged && ssl_close(ssl, &error),
		      "all that was acknowledged is there");
	}
}

/* A log for which the disk has no room is not left behind, and what was full is told. */
static void crowded(void)
{
	struct ssl *ssl = scene_open("a.db");
	struct error error;
	int full = 0;

	scene_run(ssl, "CREATE TABLE t(x)");
	scene_close(ssl);
	for (int64_t call = 1; call < 100; call++) {
		bool opened;

		disk_fail(FAULT_FULL, call);
		opened = ssl_open("a.db", flags, &options, &ssl, &error);
		disk_fail(FAULT_NONE, 0);
		if (opened) {
			scene_close(ssl);
		} else if (strstr(error.text, log_name) != NULL &&
			   strstr(error.text, "full") != NULL) {
			check(!disk_there(log_name), "there is no log");
			full++;
		}
	}
	check(full > 5, "there was no room for the log");
}

static void unaware(void)
{
	sqlite3 *db;

	make_live("a.db");
	check(sqlite3_open_v2("a.db", &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK, "opened");
	check(sqlite3_exec(db, "INSERT INTO w VALUES('x', 1)", NULL, NULL, NULL) == SQLITE_NOTADB,
	      "not opened");
	puts(sqlite3_errmsg(db));
	sqlite3_close(db);
	must_recover("a.db");
	check(sqlite3_open_v2("a.db", &db, SQLITE_OPEN_READWRITE, "disk") == SQLITE_OK, "opened");
	check(load_hash(db, false) == acknowledged, "closed, it is any SQLite's");
	sqlite3_close(db);
}

static void attached(void)
{
	const char *const vfs[] = {"disk", log_kind.vfs};
	struct target other = {0};

	make_live("a.db");
	for (int i = 0; i < 2; i++) {
		sqlite3 *db;

		sqlite3_open_v2("b.db", &db, flags, vfs[i]);
		check(sqlite3_exec(db, "ATTACH 'a.db' AS a; SELECT count(*) FROM a.t", NULL, NULL,
				   NULL) != SQLITE_OK,
		      "not attached");
		puts(sqlite3_errmsg(db));
		sqlite3_close(db);
	}
	other.ssl = scene_open("b.db");
	check(ssl_exec(other.ssl, "ATTACH 'a.db' AS a") != SQLITE_OK, "not attached");
	puts(sqlite3_errmsg(ssl_db(other.ssl)));
	scene_close(other.ssl);
	must_recover("a.db");
}

/* The first opening fails at each call in turn: nothing is left. */
static void first(void)
{
	static const enum fault faults[] = {FAULT_EIO, FAULT_FULL, FAULT_SHORT};
	char pages_name[16];
	struct ssl *ssl;
	struct error error;
	int refused = 0;

	snprintf(pages_name, sizeof(pages_name), "a.db%s", log_kind.pages_suffix);
	for (int i = 0; i < 3; i++)
		for (int64_t call = 1, failed = true; failed; call++) {
			bool opened;

			disk_empty();
			disk_fail(faults[i], call);
			opened = ssl_open("a.db", flags, &options, &ssl, &error);
			failed = disk_failed();
			disk_fail(FAULT_NONE, 0);
			if (opened) {
				scene_close(ssl);
				continue;
			}
			check(!disk_there("a.db"), "there is no database");
			check(!disk_there(log_name) && !disk_there(pages_name),
			      "nothing is beside it");
			refused++;
		}
	check(refused > 100, "refused");
}

/* A log that has more bytes than it was made with is none; what is there may be had again. A commit
 * does not look. */
static void grown(void)
{
	struct target ours = {0};
	struct error error;

	make_live("a.db");
	disk_cut_file(log_name, options.log_size + 1);
	must_refuse("a.db");
	disk_cut_file(log_name, options.log_size);
	must_recover("a.db");
	ours.ssl = scene_open("a.db");
	disk_cut_file(log_name, options.log_size + 1);
	scene_run(ours.ssl, "INSERT INTO w VALUES('grown', 1)");
	acknowledged = load_hash(ssl_db(ours.ssl), false);
	scene_crash(ours.ssl, KEPT_NONE);
	must_refuse("a.db");
	disk_cut_file(log_name, options.log_size);
	must_recover("a.db");
	ours.ssl = scene_open("a.db");
	disk_cut_file(log_name, options.log_size + 1);
	check(ssl_close(ours.ssl, &error) && !disk_there(log_name), "closed");
}

static void recreated(void)
{
	sqlite3 *db;

	make_live("a.db");
	disk_remove("a.db");
	sqlite3_open_v2("a.db", &db, flags, "disk");
	check(sqlite3_exec(db, "CREATE TABLE other(x)", NULL, NULL, NULL) == SQLITE_OK,
	      "made anew");
	sqlite3_close(db);
	must_refuse("a.db");
	must_refuse("a.db");
}

static void of_another(void)
{
	make_live("b.db");
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_copy(other_log, log_name);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static void missing(void)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_remove(log_name);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

/* The log of before two checkpoints; what the one before the last has of it is not lost. */
static void older(void)
{
	struct target ours = {0};
	struct error error;

	make_live("a.db");
	disk_copy(log_name, "kept");
	ours.ssl = scene_open("a.db");
	scene_run(ours.ssl, "INSERT INTO w VALUES('older', 1)");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	scene_crash(ours.ssl, KEPT_NONE);
	disk_copy("kept", log_name);
	must_refuse("a.db");
}

/* The database is an older copy of itself, wherever in a checkpoint power was cut: it is refused,
 * and with the one of then nothing is lost. */
static void restored(void)
{
	struct target ours = {0};
	struct error error;
	bool is_cut = true;

	for (int64_t call = 1; is_cut; call++) {
		disk_empty();
		open_target(&ours, true);
		disk_copy("a.db", "older");
		for (int64_t i = 0; i < 3; i++) {
			if (i > 0)
				check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
			check(load_transaction(&ours, MIX_PLAIN, 1, i) == SQLITE_OK, "transaction");
		}
		acknowledged = load_hash(ours.db, false);
		disk_cut_after(call);
		ssl_checkpoint(ours.ssl, &error);
		is_cut = disk_is_cut();
		scene_crash(ours.ssl, KEPT_ALL);
		disk_copy("a.db", "kept");
		disk_copy("older", "a.db");
		check(!ssl_open("a.db", flags, &options, &ours.ssl, &error), "refused");
		disk_copy("kept", "a.db");
		open_target(&ours, false);
		check(load_hash(ours.db, false) == acknowledged, "all of it is there");
		scene_close(ours.ssl);
	}
	puts(error.text);
}

static void truncated(void)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_cut_file(log_name, 5000);
	must_refuse("a.db");
	disk_cut_file(log_name, 100);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static void damaged(void)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	disk_edit(log_name, 30, 1);
	disk_edit(log_name, 512 + 30, 1);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

/* A knob that is out of range is refused, and nothing is made. */
static void refuse_knob(int64_t *knob, int64_t wrong)
{
	int64_t kept = *knob;

	*knob = wrong;
	must_refuse("a.db");
	*knob = kept;
	check(!disk_there("a.db"), "nothing was made");
}

static void knobs(void)
{
	refuse_knob(&options.log_size, -1);
	refuse_knob(&options.full, -1);
	refuse_knob(&options.dirty, -1);
	refuse_knob(&options.line, 24);
	refuse_knob(&options.write_ns, -1);
	options.synchronous = SSL_NORMAL;
#ifdef PAGE_LOG
	must_refuse("a.db");
	options.synchronous = SSL_FULL;
	refuse_knob(&options.sector, 500);
	options.log_size = 4096;
	refuse_knob(&options.sector, 8192);
#else
	options.medium = SSL_PCM;
	must_refuse("a.db");
#endif
}

static void twice(void)
{
	struct ssl *first = scene_open("a.db");

	must_refuse("a.db");
	scene_close(first);
	check(!disk_there(log_name) && !disk_there("a.db-wal"), "nothing is left beside it");
}

static void unfinished(void)
{
	struct ssl *ssl = scene_open("a.db");
	struct ssl_stmt *statement;
	struct error error;

	check(ssl_prepare(ssl, "SELECT 1", -1, &statement, NULL) == SQLITE_OK, "prepared");
	check(!ssl_close(ssl, &error), "not closed");
	puts(error.text);
	ssl_finalize(statement);
	scene_close(ssl);
}

static void pragmas(void)
{
	static const char *const texts[] = {"PRAGMA synchronous=off", "PRAGMA journal_mode=delete",
					    "PRAGMA locking_mode=normal",
					    "PRAGMA wal_autocheckpoint=10"};
	static const char *const same[] = {
		"PRAGMA synchronous=FULL",	 "PRAGMA synchronous=2",
		"PRAGMA main.journal_mode=WAL",	 "PRAGMA journal_mode=wal",
		"PRAGMA locking_mode=exclusive", "PRAGMA wal_autocheckpoint=0"};
	struct ssl *ssl = scene_open("a.db");

	for (int i = 0; i < 4; i++) {
		check(ssl_exec(ssl, texts[i]) == SQLITE_ERROR, "refused");
		puts(sqlite3_errmsg(ssl_db(ssl)));
	}
	scene_run(ssl, "PRAGMA synchronous");
	/* to what it is */
	for (int i = 0; i < 6; i++)
		scene_run(ssl, same[i]);
	scene_run(ssl, "CREATE TABLE t(x)");
	scene_run(ssl, "INSERT INTO t VALUES(1)");
	scene_close(ssl);
}

/* Changes a number of both headers, and makes them whole again. */
static void change_headers(int at, uint8_t byte)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find("disk");
	sqlite3_file *file = malloc((size_t)vfs->szOsFile);

	vfs->xOpen(vfs, log_name, file, SQLITE_OPEN_READWRITE, NULL);
	for (int slot = 0; slot < 2; slot++) {
		uint8_t header[LOG_HEADER];
		int check = log_kind.header - 4;

		file->pMethods->xRead(file, header, log_kind.header, slot * 512);
		header[at] = byte;
		put32(header + check, crc32c(0, header, (size_t)check));
		file->pMethods->xWrite(file, header, log_kind.header, slot * 512);
	}
	file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	file->pMethods->xClose(file);
	free(file);
}

static void changed(int at, uint8_t byte)
{
	make_live("a.db");
	disk_copy(log_name, "kept");
	change_headers(at, byte);
	must_refuse("a.db");
	disk_copy("kept", log_name);
	must_recover("a.db");
}

static const struct scene scenes[] = {
	{"version", NULL, 14, 9},
	{"epoch", NULL, 32, 0},
	{"size", NULL, 50, 7},
	{.name = "unaware", .play = unaware},
	{.name = "attached", .play = attached},
	{.name = "recreated", .play = recreated},
	{.name = "another", .play = of_another},
	{.name = "missing", .play = missing},
	{.name = "older", .play = older},
	{.name = "restored", .play = restored},
	{.name = "truncated", .play = truncated},
	{.name = "damaged", .play = damaged},
	{.name = "knobs", .play = knobs},
	{.name = "twice", .play = twice},
	{.name = "unfinished", .play = unfinished},
	{.name = "interrupted", .play = interrupted},
	{.name = "pragmas", .play = pragmas},
	{.name = "crowded", .play = crowded},
	{.name = "first", .play = first},
	{.name = "grown", .play = grown},
	{.name = "bytes", .play = damaged_bytes},
	{.name = NULL},
};

static bool play(const struct scene *of, const char *name)
{
	for (; of->name != NULL; of++)
		if (strcmp(of->name, name) == 0) {
			if (of->play != NULL)
				of->play();
			else
				changed(of->at, of->byte);
			return true;
		}
	return false;
}

int main(int count, char **words)
{
	if (count < 2)
		return 2;
	scene_words = words + 2;
	ssl_defaults(&options);
	snprintf(log_name, sizeof(log_name), "a.db%s", log_kind.suffix);
	snprintf(other_log, sizeof(other_log), "b.db%s", log_kind.suffix);
	disk_register();
	return play(scenes, words[1]) || play(own_scenes, words[1]) ? 0 : 2;
}

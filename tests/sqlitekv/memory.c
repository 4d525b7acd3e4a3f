/* Executes each line of SQL while its first allocation fails, then while a later one does, and so
 * on until none is left. A line that failed must have changed nothing, and one that did not as much
 * as on SQLite's own tables.
 *
 * usage: memory FOLDER CACHE STEP <LINES
 *   FOLDER  the LevelDB database
 *   CACHE   bytes of the query cache; 0: none
 *   STEP    each so many-th allocation fails in turn
 * A line is a letter and SQL, as of compare.c: K on sqlitekv only, P on SQLite only, B on both. A
 * table's name is a letter from a to d. A line that begins with CREATE VIRTUAL TABLE is undone by
 * DROP TABLE, and another by ROLLBACK, but for one from BEGIN to COMMIT. It prints how often a line
 * failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

#define CREATE "CREATE VIRTUAL TABLE "

static sqlite3_mem_methods real;
static int step;
static int left; /* allocations until one fails; 0: none does */
static bool failed;

static bool fails(void)
{
	if (left == 0 || --left > 0)
		return false;
	failed = true;
	return true;
}

static void *allocate(int size)
{
	return fails() ? NULL : real.xMalloc(size);
}

static void *reallocate(void *memory, int size)
{
	return fails() ? NULL : real.xRealloc(memory, size);
}

/* All rows of all tables. */
static char *content(sqlite3 *db)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (char table = 'a'; table <= 'd'; table++) {
		char *sql = sqlite3_mprintf("SELECT * FROM %c ORDER BY 1, 2", table);
		sqlite3_stmt *statement = NULL;

		/* it may not be there */
		sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
		while (statement != NULL && sqlite3_step(statement) == SQLITE_ROW) {
			char *row = row_text(statement);

			sqlite3_str_appendf(text, "%c%s\n", table, row);
			sqlite3_free(row);
		}
		if (sqlite3_finalize(statement) != SQLITE_OK)
			fail(sql, sqlite3_errmsg(db));
		sqlite3_free(sql);
	}
	sqlite3_str_appendall(text, "");
	return sqlite3_str_finish(text);
}

static void same(sqlite3 *db, const char *expected, const char *sql)
{
	char *found = content(db);

	if ((found == NULL) != (expected == NULL) ||
	    (found != NULL && strcmp(found, expected) != 0)) {
		fprintf(stderr, "expected:\n%sfound:\n%s", expected != NULL ? expected : "",
			found != NULL ? found : "");
		fail("another content after", sql);
	}
	sqlite3_free(found);
}

/* Undoes a line: the table that it made, or a transaction around it. */
static void undo(sqlite3 *db, const char *sql, bool creates)
{
	if (!sqlite3_get_autocommit(db))
		execute(db, "ROLLBACK");
	if (creates) {
		char *drop = sqlite3_mprintf("DROP TABLE IF EXISTS %c", sql[strlen(CREATE)]);

		execute(db, drop);
		sqlite3_free(drop);
	}
}

/* Executes a line as often as something fails in it, and then once; returns how often it failed. */
static int without_memory(sqlite3 *db, const char *sql, const char *expected)
{
	bool creates = strncmp(sql, CREATE, strlen(CREATE)) == 0;
	bool commits = strncmp(sql, "BEGIN", strlen("BEGIN")) == 0;
	char *before = content(db);
	int number = 1, failures = 0, result;

	do {
		if (!creates && !commits)
			execute(db, "BEGIN");
		failed = false;
		left = number;
		number += step;
		result = sqlite3_exec(db, sql, NULL, NULL, NULL);
		left = 0;
		if (result != SQLITE_OK && !failed)
			fail(sql, sqlite3_errmsg(db));
		failures += result != SQLITE_OK;
		if (result == SQLITE_OK)
			same(db, expected, sql);
		/* it cannot be undone */
		if (result == SQLITE_OK && commits)
			break;
		undo(db, sql, creates);
		same(db, before, sql);
	} while (failed);
	if (!commits)
		execute(db, sql);
	same(db, expected, sql);
	sqlite3_free(before);
	return failures;
}

int main(int argc, char **argv)
{
	static char line[1 << 16];
	sqlite3_mem_methods failing;
	struct store_options options = {.sync_given = true, .cache_given = true};
	struct store *store;
	sqlite3 *plain, *kv;
	int failures = 0;

	if (argc != 4)
		fail("usage", "memory FOLDER CACHE STEP");
	options.cache_size = atoll(argv[2]);
	step = atoi(argv[3]);
	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real);
	failing = real;
	failing.xMalloc = allocate;
	failing.xRealloc = reallocate;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
	/* each allocation is one that fails */
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	if (sqlite3_open(":memory:", &plain) != SQLITE_OK)
		fail("open", ":memory:");
	store = open_kv(argv[1], &options, false, &kv);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != 'K')
			execute(plain, line + 1);
		if (line[0] != 'P') {
			char *expected = content(plain);

			failures += without_memory(kv, line + 1, expected);
			sqlite3_free(expected);
		}
	}
	printf("%d failures\n", failures);
	store_close(store);
	if (sqlite3_close(kv) != SQLITE_OK || sqlite3_close(plain) != SQLITE_OK)
		fail("close", argv[1]);
	return EXIT_SUCCESS;
}

/* Executes SQL on tables of sqlitekv and on SQLite's own, and compares results and errors.
 *
 * usage: compare FOLDER CACHE FORM <LINES
 *   FOLDER  the LevelDB database
 *   CACHE   bytes of the query cache; 0: none
 *   FORM    table or direct
 * A line is a letter and SQL: K on sqlitekv only, P on SQLite only, B on both. R opens FOLDER
 * again, without SQL. Rows are compared in the order of the key where the SQL has ORDER BY, and
 * sorted where not. With a cache, a statement is looked up before it is compiled. It prints how
 * many statements had a result, an error and rows, how often the cache was used, and how many
 * statements it answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

enum { MAX_ROWS = 20000 };

struct result {
	int code;
	char *error;
	char *rows[MAX_ROWS];
	size_t count;
};

static sqlite3 *plain, *kv;
static struct store *store;
static struct store_options options;
static int64_t number, results, errors, rows, hits, direct_answers;

static void close_kv(void)
{
	if (store->cache != NULL)
		hits += cache_counts(store->cache).hits;
	store_close(store);
	if (sqlite3_close(kv) != SQLITE_OK)
		fail("close", sqlite3_errmsg(kv));
}

static int run_direct(const char *sql, struct result *result)
{
	struct direct direct;

	if (!direct_read(store->module, &sql, &direct))
		return 0;
	direct_answers++;
	*result = (struct result){.code = SQLITE_DONE};
	if (direct.has_row)
		result->rows[result->count++] = direct_text(&direct);
	return 1;
}

static int compare_rows(const void *one, const void *other)
{
	return strcmp(*(char *const *)one, *(char *const *)other);
}

static void run(sqlite3 *db, const char *sql, struct result *result)
{
	sqlite3_stmt *statement = NULL;

	*result = (struct result){0};
	result->code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
	while (result->code == SQLITE_OK || result->code == SQLITE_ROW) {
		result->code = sqlite3_step(statement);
		if (result->code != SQLITE_ROW)
			break;
		if (result->count == MAX_ROWS)
			fail("too many rows", sql);
		result->rows[result->count++] = row_text(statement);
	}
	if (result->code != SQLITE_DONE) {
		result->code = sqlite3_errcode(db);
		result->error = sqlite3_mprintf("%s", sqlite3_errmsg(db));
	}
	sqlite3_finalize(statement);
	if (strstr(sql, "ORDER BY") == NULL)
		qsort(result->rows, result->count, sizeof(result->rows[0]), compare_rows);
}

static void drop(struct result *result)
{
	for (size_t i = 0; i < result->count; i++)
		sqlite3_free(result->rows[i]);
	sqlite3_free(result->error);
}

static void print(const char *of, const struct result *result)
{
	fprintf(stderr, "  %s: code %d (%s), %zu rows\n", of, result->code,
		result->error != NULL ? result->error : "no error", result->count);
	for (size_t i = 0; i < result->count && i < 10; i++)
		fprintf(stderr, "    %s\n", result->rows[i]);
}

static int differ(const struct result *one, const struct result *other)
{
	if (one->code != other->code || one->count != other->count)
		return 1;
	if (one->error != NULL && strcmp(one->error, other->error) != 0)
		return 1;
	for (size_t i = 0; i < one->count; i++)
		if (strcmp(one->rows[i], other->rows[i]) != 0)
			return 1;
	return 0;
}

static void compare(const char *sql)
{
	static struct result expected, found;

	run(plain, sql, &expected);
	if (!run_direct(sql, &found))
		run(kv, sql, &found);
	if (differ(&expected, &found) ||
	    sqlite3_get_autocommit(plain) != sqlite3_get_autocommit(kv)) {
		fprintf(stderr, "compare: line %lld: %s\n", (long long)number, sql);
		print("SQLite", &expected);
		print("sqlitekv", &found);
		exit(1);
	}
	if (found.error != NULL)
		errors++;
	else
		results++;
	rows += (int64_t)found.count;
	drop(&expected);
	drop(&found);
}

int main(int argc, char **argv)
{
	static char line[1 << 20];
	bool blind = argc == 4 && strcmp(argv[3], "direct") == 0;

	if (argc != 4)
		fail("usage", "compare FOLDER CACHE FORM");
	options.cache_given = true;
	options.cache_size = atoll(argv[2]);
	options.sync_given = true;
	if (sqlite3_open(":memory:", &plain) != SQLITE_OK)
		fail("open", ":memory:");
	store = open_kv(argv[1], &options, blind, &kv);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		switch (line[0]) {
		case 'R':
			close_kv();
			store = open_kv(argv[1], &options, blind, &kv);
			break;
		case 'K':
			execute(kv, line + 1);
			break;
		case 'P':
			execute(plain, line + 1);
			break;
		default:
			compare(line + 1);
		}
	}
	close_kv();
	sqlite3_close(plain);
	printf("%lld results, %lld errors, %lld rows, %lld hits, %lld direct\n", (long long)results,
	       (long long)errors, (long long)rows, (long long)hits, (long long)direct_answers);
	return 0;
}

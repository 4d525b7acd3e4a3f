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
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

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
static const char *folder;
static int is_direct;
static int64_t number, results, errors, rows, hits, direct_answers;

static void fail(const char *what, const char *detail)
{
	fprintf(stderr, "compare: %s: %s\n", what, detail);
	exit(1);
}

static void open_kv(void)
{
	struct module *module;
	char *message = NULL;

	if (sqlite3_open(":memory:", &kv) != SQLITE_OK || module_register(kv, &module) != SQLITE_OK)
		fail("open", folder);
	if (module_attach(module, folder, &options, true, is_direct, &store, &message) != SQLITE_OK)
		fail(folder, message != NULL ? message : "no message");
}

static void close_kv(void)
{
	if (store->cache != NULL)
		hits += cache_counts(store->cache).hits;
	store_close(store);
	if (sqlite3_close(kv) != SQLITE_OK)
		fail("close", sqlite3_errmsg(kv));
}

static void add_real(sqlite3_str *text, double real)
{
	/* SQLite prints no sign of -0.0 */
	sqlite3_str_appendf(text, "%s%!.17g", signbit(real) ? "-" : "", real);
}

static void add_bytes(sqlite3_str *text, int type, const unsigned char *bytes, int size)
{
	for (int byte = 0; byte < size; byte++)
		sqlite3_str_appendf(text, type == SQLITE_BLOB || bytes[byte] < ' ' ? "%02x" : "%c",
				    bytes[byte]);
}

/* A row as text, with the types of its values. */
static char *row_text(sqlite3_stmt *statement)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		int type = sqlite3_column_type(statement, i);
		const unsigned char *bytes;

		sqlite3_str_appendf(text, "|%d:", type);
		if (type == SQLITE_FLOAT) {
			add_real(text, sqlite3_column_double(statement, i));
			continue;
		}
		bytes = sqlite3_column_blob(statement, i);
		add_bytes(text, type, bytes, sqlite3_column_bytes(statement, i));
	}
	return sqlite3_str_finish(text);
}

static char *direct_text(const struct direct *direct)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	for (int i = 0; i < direct->count; i++) {
		const struct field *field = &direct->fields[i];

		sqlite3_str_appendf(text, "|%d:", field->type);
		if (field->type == SQLITE_FLOAT)
			add_real(text, field->real);
		else if (field->type == SQLITE_INTEGER)
			sqlite3_str_appendf(text, "%lld", (long long)field->integer);
		else
			add_bytes(text, field->type, field->bytes.data, (int)field->bytes.size);
	}
	return sqlite3_str_finish(text);
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

static void run_only(sqlite3 *db, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail(sql, message);
}

int main(int argc, char **argv)
{
	static char line[1 << 20];

	if (argc != 4)
		fail("usage", "compare FOLDER CACHE FORM");
	folder = argv[1];
	options.cache_given = true;
	options.cache_size = atoll(argv[2]);
	options.sync_given = true;
	is_direct = strcmp(argv[3], "direct") == 0;
	if (sqlite3_open(":memory:", &plain) != SQLITE_OK)
		fail("open", ":memory:");
	open_kv();
	while (fgets(line, sizeof(line), stdin) != NULL) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		switch (line[0]) {
		case 'R':
			close_kv();
			open_kv();
			break;
		case 'K':
			run_only(kv, line + 1);
			break;
		case 'P':
			run_only(plain, line + 1);
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

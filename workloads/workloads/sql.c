/* The workload sql, a user's own SQL from --file: `populate` makes the databases by the file's
 * statements, and `run` executes each transaction of its file once. The host cuts the user's file
 * into statements that make the database and into transactions (model/statements/sqlfile.py), and
 * gives --file of `populate` the former, of `run` the latter. Each text is preceded by the line
 * where it begins in the user's file, in digits; optionally a blank and its database's number, from
 * 1; optionally a blank and the ns since the first transaction at which it was recorded; and a
 * newline. A NUL ends it. The tables are unknown, so no rows are counted. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "user_file.h"
#include "workload.h"

struct text {
	const char *data;
	size_t size;
	int64_t line;
	size_t database;
	uint64_t due_ns;
};

static char *all; /* the file's content */
static struct text *texts;
static size_t text_count;

static const char *const none[] = {NULL};
static struct table table = {.create = none, .names = none, .value_column = -1};

static const struct workload_phase phases[] = {{.name = "sql"}};

/* Cuts one text off the content, which goes to where the next one begins. */
static struct text cut(const struct options *options, char **content, const char *end)
{
	char *text;
	struct text found = {.line = strtoll(*content, &text, 10)};
	long long database = 1;

	if (*text == ' ')
		database = strtoll(text + 1, &text, 10);
	if (*text == ' ')
		found.due_ns = strtoull(text + 1, &text, 10);
	if (text == *content || *text != '\n' || found.line < 1)
		fail("%s: text %zu has no line before it", options->file, text_count);
	if (database < 1 || database > options->databases)
		fail("%s: text %zu is of database %lld, and --databases is %" PRId64, options->file,
		     text_count, database, options->databases);
	found.database = (size_t)database - 1;
	found.data = text + 1;
	found.size = strlen(found.data);
	*content = text + 1 + found.size + 1;
	if (*content > end)
		fail("%s: text %zu has no end", options->file, text_count);
	return found;
}

/* Makes the file's texts the statements that create the databases. */
static void give_table(const struct options *options)
{
	size_t most = text_count + (size_t)options->databases;
	const char **create = user_file_allocate(options, most, sizeof(*create));
	int64_t *lines = user_file_allocate(options, most, sizeof(*lines));
	size_t *databases = user_file_allocate(options, most, sizeof(*databases));
	bool is_made[MAX_DATABASES] = {false};
	size_t count = text_count;

	for (size_t i = 0; i < text_count; i++) {
		create[i] = texts[i].data;
		lines[i] = texts[i].line;
		databases[i] = texts[i].database;
		is_made[texts[i].database] = true;
	}
	/* without a page a database would have no page size */
	for (size_t i = 0; i < (size_t)options->databases; i++)
		if (!is_made[i]) {
			create[count] = "PRAGMA user_version=0";
			databases[count++] = i;
		}
	table.create = create;
	table.lines = lines;
	table.databases = databases;
}

static void open_file(const struct options *options)
{
	size_t size, count = 0;
	char *content, *end;

	all = user_file_read(options, &size);
	content = all;
	end = content + size;
	for (size_t i = 0; i < size; i++)
		count += content[i] == '\0';
	texts = user_file_allocate(options, count, sizeof(*texts));
	while (content < end) {
		texts[text_count] = cut(options, &content, end);
		text_count++;
	}
	if (options->command == COMMAND_POPULATE)
		give_table(options);
}

static void check(const struct options *options, size_t first_phase)
{
	if (options->rows != 0)
		fail_usage("--rows: sql counts none, it is 0 and not %" PRId64, options->rows);
	if ((size_t)options->n != text_count)
		fail_usage("--n: %s has %zu transactions, not %" PRId64, options->file, text_count,
			   options->n);
}

static void next(struct generator *generator, struct transaction *transaction)
{
	const struct text *text = &texts[generator->number];

	*generator->operations =
		(struct operation){OPERATION_SQL, 0, text->data, text->size, text->line, 0};
	*transaction =
		(struct transaction){OPERATION_SQL, generator->operations, 1, 0, text->database};
	generator->due_ns = text->due_ns;
}

static const struct workload sql = {
	.name = "sql",
	.summary = "a user's own SQL: the transactions that --file has, each once",
	.phases = phases,
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.table = &table,
	.value_size = 1,
	.several = true,
	.open = open_file,
	.check = check,
	.next = next,
};
WORKLOAD_REGISTER(sql)

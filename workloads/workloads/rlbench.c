/* The workload rlbench, as the app "RL Benchmark: SQLite": thirteen groups of statements that the
 * app times one by one. Their names are the app's. Statements, values, ranges and transactions are
 * those of SQLite's speed test (sqlite.org/speed.html), from which the app has its groups, and
 * which has three more; the app's source is not public. n is the size of the first group, 1000 in
 * the app; the others keep their proportion to it. Table 1 of apsys17 is the first group alone. */
#include "fail.h"
#include "text.h"
#include "workload.h"

enum group {
	INSERT,
	INSERT_TRANSACTION,
	INSERT_INDEXED,
	SELECT_SCAN,
	SELECT_STRING,
	CREATE_INDEX,
	SELECT_INDEX,
	UPDATE_SCAN,
	UPDATE_INDEX,
	INSERT_SELECT,
	DELETE_SCAN,
	DELETE_INDEX,
	DROP_TABLE,
	GROUPS
};

#define GROUP(group) {.name = (group), .is_group = true}
static const struct workload_phase groups[] = {
	[INSERT] = GROUP("insert"),
	[INSERT_TRANSACTION] = GROUP("insert_transaction"),
	[INSERT_INDEXED] = GROUP("insert_indexed"),
	[SELECT_SCAN] = GROUP("select_scan"),
	[SELECT_STRING] = GROUP("select_string"),
	[CREATE_INDEX] = GROUP("create_index"),
	[SELECT_INDEX] = GROUP("select_index"),
	[UPDATE_SCAN] = GROUP("update_scan"),
	[UPDATE_INDEX] = GROUP("update_index"),
	[INSERT_SELECT] = GROUP("insert_select"),
	[DELETE_SCAN] = GROUP("delete_scan"),
	[DELETE_INDEX] = GROUP("delete_index"),
	[DROP_TABLE] = {.name = "drop_table", .is_group = true, .empties = true},
};

static const enum operation_kind kinds[] = {
	[INSERT] = OPERATION_INSERT,	     [INSERT_TRANSACTION] = OPERATION_INSERT,
	[INSERT_INDEXED] = OPERATION_INSERT, [SELECT_SCAN] = OPERATION_SCAN,
	[SELECT_STRING] = OPERATION_SCAN,    [CREATE_INDEX] = OPERATION_SQL,
	[SELECT_INDEX] = OPERATION_READ,     [UPDATE_SCAN] = OPERATION_UPDATE,
	[UPDATE_INDEX] = OPERATION_UPDATE,   [INSERT_SELECT] = OPERATION_INSERT,
	[DELETE_SCAN] = OPERATION_DELETE,    [DELETE_INDEX] = OPERATION_DELETE,
	[DROP_TABLE] = OPERATION_SQL,
};

static const char *const create_index[] = {"CREATE INDEX i2a ON t2(a);",
					   "CREATE INDEX i2b ON t2(b);"};
static const char *const drop_table[] = {"DROP TABLE t1;", "DROP TABLE t2;", "DROP TABLE t3;"};
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

/* Of the app, for an n of 1000: 25 000 rows in t2 and t3, 100 scans, 5000
 * selects with an index. */
enum { LARGE = 25, SCANS_PART = 10, SELECTS = 5 };

/* Values are below 100 000, updates' below 500 000. */
enum { INSERT_LIMIT = 100000, UPDATE_LIMIT = 500000, MAX_N = 10000 };

/* The column is VARCHAR(100); its text is shorter. */
enum { VALUE_SIZE = 100, MAX_STATEMENT = 128 };

static const char *const small[] = {
	"zero",	    "one",     "two",	  "three",     "four",	   "five",     "six",
	"seven",    "eight",   "nine",	  "ten",       "eleven",   "twelve",   "thirteen",
	"fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
};

static const char *const tens[] = {
	"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
};

/* Appends a number below a million in English words, as SQLite's speed test fills its text columns:
 * "thirteen thousand one hundred fifty three". */
static char *append_number_words(char *end, unsigned number)
{
	if (number >= 1000) {
		end = append(append_number_words(end, number / 1000), " thousand");
		number %= 1000;
		return number > 0 ? append_number_words(append(end, " "), number) : end;
	}
	if (number >= 100) {
		end = append(append(end, small[number / 100]), " hundred");
		number %= 100;
		return number > 0 ? append_number_words(append(end, " "), number) : end;
	}
	if (number < 20)
		return append(end, small[number]);
	end = append(end, tens[number / 10]);
	return number % 10 > 0 ? append(append(end, " "), small[number % 10]) : end;
}

static int64_t scans(const struct options *options)
{
	return (options->n + SCANS_PART - 1) / SCANS_PART;
}

static void check(const struct options *options, size_t first_phase)
{
	if (options->rows != 0)
		fail_usage("--rows: rlbench begins with 0 rows, not with %" PRId64, options->rows);
	if (options->n > MAX_N)
		fail_usage("--n: rlbench takes at most %d", MAX_N);
}

static int64_t transactions(const struct options *options, size_t phase)
{
	switch (phase) {
	case INSERT:
		return options->n;
	case CREATE_INDEX:
		return COUNT(create_index);
	case SELECT_INDEX:
		return SELECTS * options->n;
	case DROP_TABLE:
		return COUNT(drop_table);
	default:
		return 1;
	}
}

static size_t buffer_size(const struct options *options)
{
	return (size_t)(LARGE * options->n + 4) * MAX_STATEMENT;
}

static char *append_insert(char *end, const char *table, int64_t row, struct generator *generator,
			   size_t *value_bytes)
{
	unsigned number = (unsigned)prng_below(&generator->prng, INSERT_LIMIT);
	char *values;

	end = append(append(append(end, "INSERT INTO "), table), " VALUES(");
	values = end;
	end = append_number(append(append_number(end, row), ","), number);
	end = append_number_words(append(end, ",'"), number);
	*value_bytes += (size_t)(end - values) - strlen(",,'");
	return append(end, "');");
}

/* A table filled in one transaction. */
static char *append_table(char *end, const char *table, const char *index,
			  struct generator *generator, size_t *value_bytes)
{
	end = append(append(append(end, "BEGIN;CREATE TABLE "), table),
		     "(a INTEGER, b INTEGER, c VARCHAR(100));");
	end = append(end, index);
	for (int64_t row = 1; row <= LARGE * generator->options->n; row++)
		end = append_insert(end, table, row, generator, value_bytes);
	return append(end, "COMMIT;");
}

/* A statement about the numbers from `from` up to `to`. */
static char *append_range(char *end, const char *text, const char *column, int64_t from, int64_t to)
{
	end = append(append(append(end, text), column), ">=");
	end = append(append(append_number(end, from), " AND "), column);
	return append(append_number(append(end, "<"), to), ";");
}

static const char average[] = "SELECT count(*), avg(b) FROM t2 WHERE ";

static char *append_scans(char *end, const struct generator *generator)
{
	end = append(end, "BEGIN;");
	for (int64_t i = 0; i < scans(generator->options); i++) {
		if (generator->phase == SELECT_SCAN) {
			end = append_range(end, average, "b", 100 * i, 100 * i + 1000);
			continue;
		}
		end = append(append(end, average), "c LIKE '%");
		end = append_number_words(end, (unsigned)i + 1);
		end = append(end, "%';");
	}
	return append(end, "COMMIT;");
}

static char *append_updates(char *end, struct generator *generator, size_t *value_bytes)
{
	int64_t n = generator->options->n;

	end = append(end, "BEGIN;");
	if (generator->phase == UPDATE_SCAN) {
		for (int64_t i = 0; i < n; i++)
			end = append_range(end, "UPDATE t1 SET b=b*2 WHERE ", "a", 10 * i,
					   10 * (i + 1));
		return append(end, "COMMIT;");
	}
	for (int64_t row = 1; row <= LARGE * n; row++) {
		char *value = append(end, "UPDATE t2 SET b=");

		end = append_number(value, (int64_t)prng_below(&generator->prng, UPDATE_LIMIT));
		*value_bytes += (size_t)(end - value);
		end = append(append_number(append(end, " WHERE a="), row), ";");
	}
	return append(end, "COMMIT;");
}

static char *append_group(char *end, struct generator *generator, size_t *value_bytes)
{
	int64_t number = generator->number;

	switch (generator->phase) {
	case INSERT:
		return append_insert(end, "t1", number + 1, generator, value_bytes);
	case INSERT_TRANSACTION:
		return append_table(end, "t2", "", generator, value_bytes);
	case INSERT_INDEXED:
		return append_table(end, "t3", "CREATE INDEX i3 ON t3(c);", generator, value_bytes);
	case SELECT_SCAN:
	case SELECT_STRING:
		return append_scans(end, generator);
	case CREATE_INDEX:
		return append(end, create_index[number]);
	case SELECT_INDEX:
		return append_range(end, average, "b", 100 * number, 100 * (number + 1));
	case UPDATE_SCAN:
	case UPDATE_INDEX:
		return append_updates(end, generator, value_bytes);
	case INSERT_SELECT:
		return append(end, "BEGIN;INSERT INTO t1 SELECT b,a,c FROM t2;"
				   "INSERT INTO t2 SELECT b,a,c FROM t1;COMMIT;");
	case DELETE_SCAN:
		return append(end, "DELETE FROM t2 WHERE c LIKE '%fifty%';");
	case DELETE_INDEX:
		/* a>10 AND a<20000 of 25 000 */
		end = append(end, "DELETE FROM t2 WHERE a>10 AND a<");
		return append(append_number(end, 20 * generator->options->n), ";");
	default:
		return append(end, drop_table[number]);
	}
}

static void next(struct generator *generator, struct transaction *transaction)
{
	size_t value_bytes = 0;
	char *end = append_group(generator->buffer, generator, &value_bytes);

	transaction_of_sql(generator, transaction, kinds[generator->phase], end, value_bytes);
}

static const char *const create_table[] = {"CREATE TABLE t1(a INTEGER, b INTEGER, c VARCHAR(100))",
					   NULL};
static const char *const names[] = {"t1", "t2", "t3", NULL};
static const struct table table = {.create = create_table, .names = names};

static const struct workload rlbench = {
	.name = "rlbench",
	.summary = "RL Benchmark: n inserts, then twelve groups of larger statements, from no rows",
	.phases = groups,
	.phase_count = GROUPS,
	.table = &table,
	.value_size = VALUE_SIZE,
	.chained = true,
	.check = check,
	.transactions = transactions,
	.buffer_size = buffer_size,
	.next = next,
};
WORKLOAD_REGISTER(rlbench)

/* AndroBench's SQLite test, as far as it is known: n inserts, updates and deletes of one row each,
 * in one table of 17 columns (n is 1024 in the trace of Park, Oh, Lee: SQL Statement Logging for
 * Making SQLite Truly Lite, PVLDB 11(4), 2017). Names, types, keys and the order of the rows were
 * never published. Those here fit the trace's published properties for n=1024: 215 bytes of SQL a
 * transaction (here 215.6), 37 distinct pages written (here 37), and in WAL mode 7700 pages in all,
 * less 21 checkpoints of 21.5 pages: 2.36 a transaction (here 2.44), which takes an index or two.
 * tests/driver/test_tools.py measures them. */
#include "text.h"
#include "tool.h"

/* 16 columns and the id; every second one a byte longer. */
enum { COLUMNS = 16, SHORT_VALUE = 5, VALUE_SIZE = COLUMNS * SHORT_VALUE + COLUMNS / 2 };

enum { MAX_TEXT = 640 };

static const char *const create[] = {
	"CREATE TABLE benchmark(id INTEGER PRIMARY KEY AUTOINCREMENT, field_0 TEXT, field_1 TEXT, "
	"field_2 TEXT, field_3 TEXT, field_4 TEXT, field_5 TEXT, field_6 TEXT, field_7 TEXT, "
	"field_8 TEXT, field_9 TEXT, field_10 TEXT, field_11 TEXT, field_12 TEXT, field_13 TEXT, "
	"field_14 TEXT, field_15 TEXT)",
	"CREATE INDEX benchmark_field_0 ON benchmark(field_0)",
	NULL,
};
static const char *const names[] = {"benchmark", NULL};

static const struct table table = {
	.create = create,
	.names = names,
	.scan = "SELECT * FROM benchmark",
	.value_column = -1,
};

static size_t buffer_size(const struct options *options)
{
	return MAX_TEXT;
}

static char *append_column(char *end, int column)
{
	return end + sprintf(end, "field_%d", column);
}

/* The id in decimal and then letters: of an own value for each row. */
static char *append_value(char *end, int column, int64_t id, char letter)
{
	int size = SHORT_VALUE + column % 2;

	*end++ = '\'';
	end += sprintf(end, "%05" PRId64, id % 100000);
	end = append_letters(end, letter, (size_t)(size - SHORT_VALUE));
	return append(end, "'");
}

static char *append_insert(char *end, int64_t id)
{
	end = append(end, "INSERT INTO benchmark(id");
	for (int column = 0; column < COLUMNS; column++)
		end = append_column(append(end, ","), column);
	end = append_number(append(end, ") VALUES("), id);
	for (int column = 0; column < COLUMNS; column++)
		end = append_value(append(end, ","), column, id, 'i');
	return append(end, ");");
}

static char *append_update(char *end, int64_t id)
{
	for (int column = 0; column < COLUMNS; column++) {
		end = append(end, column > 0 ? "," : "UPDATE benchmark SET ");
		end = append_column(end, column);
		end = append_value(append(end, "="), column, id, 'u');
	}
	return append(append_number(append(end, " WHERE id="), id), ";");
}

static void next(struct generator *generator, struct transaction *transaction)
{
	int64_t id = 1 + generator->number;
	char *end = generator->buffer;
	size_t value_bytes = VALUE_SIZE;
	enum operation_kind kind = OPERATION_DELETE;

	switch (generator->phase) {
	case TOOL_INSERT:
		kind = OPERATION_INSERT;
		end = append_insert(end, id);
		break;
	case TOOL_UPDATE:
		kind = OPERATION_UPDATE;
		end = append_update(end, id);
		break;
	default:
		end = append(append_number(append(end, "DELETE FROM benchmark WHERE id="), id),
			     ";");
		value_bytes = 0;
	}
	transaction_of_sql(generator, transaction, kind, end, value_bytes);
}

static const struct workload androbench = {
	.name = "androbench",
	.summary =
		"AndroBench: n inserts, updates and deletes in a table of 17 columns, from empty",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &table,
	.value_size = VALUE_SIZE,
	.check = tool_check,
	.buffer_size = buffer_size,
	.fill = next,
	.next = next,
};
WORKLOAD_REGISTER(androbench)

/* Mobibench's SQLite test as the workloads mobibench and mobibench_2014, the latter closer to the
 * program: n inserts, n updates, n deletes of one row each, literal SQL in autocommit
 * (ESOS-Lab/Mobibench, shell/mobibench.c of 2014 to 2016, as papers of that time ran it: `-d 0`,
 * `-d 1`, `-d 2`, one thread). Its source fixes the table, both values of 100 characters, an
 * update's id drawn from 1 to n, and a delete's id counted from 0 to n - 1, so the first one hits
 * nothing. `creation_date` is never set. All updates write the same value, so the second one of a
 * row changes no byte: SQLite 3.46.1 then writes and syncs nothing, 3.8.11.1 does it all again. Its
 * rand() is replaced by the driver's generator, its `sysctl drop_caches` by nothing.
 *
 * mobibench_2014 does more as the program does (docs/measurements/mobibench.md): each of the three
 * is a process. The table is made with the journal mode under test, before anything is timed, so
 * the journal or log exists before the database grows; and each process opens the database, so in
 * WAL each has a new log. The program's timed checkpoint at the end of each is --checkpoint-every
 * N. A DELETE's process also drops the table and unlinks the database, after its last timed
 * transaction.
 */
#include "text.h"
#include "tool.h"

enum { VALUE_SIZE = 100, LETTERS = 10, REPEATED = 10 };

static const char *const create[] = {"CREATE TABLE tblMyList(id INTEGER PRIMARY KEY AUTOINCREMENT, "
				     "Value TEXT NOT NULL, creation_date LONG)",
				     NULL};
/* The program's own text. */
static const char *const create_2014[] = {
	"CREATE TABLE IF NOT EXISTS tblMyList (id INTEGER PRIMARY KEY "
	"autoincrement, Value TEXT not "
	"null, creation_date long);",
	NULL};
static const char *const names[] = {"tblMyList", NULL};

#define TABLE(texts)                                                                             \
	{                                                                                        \
		.create = (texts),                                                               \
		.names = names,                                                                  \
		.scan = "SELECT * FROM tblMyList",                                               \
		.value_column = 1,                                                               \
		.operations =                                                                    \
			{                                                                        \
				[OPERATION_INSERT] = "INSERT INTO tblMyList(Value) VALUES(%v);", \
				[OPERATION_UPDATE] =                                             \
					"UPDATE tblMyList SET Value = %v WHERE id = %k;",        \
				[OPERATION_DELETE] = "DELETE FROM tblMyList WHERE id=%k;",       \
				[OPERATION_READ] = "SELECT Value FROM tblMyList WHERE id=%k;",   \
			},                                                                       \
	}
static const struct table table = TABLE(create), table_2014 = TABLE(create_2014);

static size_t buffer_size(const struct options *options)
{
	return VALUE_SIZE + 1;
}

/* Ten each of ten letters, from `first` on: a to j, or f to j and a to e. */
static const char *value(struct generator *generator, int first)
{
	char *end = generator->buffer;

	for (int i = 0; i < LETTERS; i++)
		end = append_letters(end, (char)('a' + (first + i) % LETTERS), REPEATED);
	return generator->buffer;
}

static void next(struct generator *generator, struct transaction *transaction)
{
	int64_t key;

	switch (generator->phase) {
	case TOOL_INSERT:
		transaction_of_key(generator, transaction, OPERATION_INSERT, 1 + generator->number,
				   value(generator, 0), VALUE_SIZE);
		break;
	case TOOL_UPDATE:
		key = 1 + (int64_t)prng_below(&generator->prng, (uint64_t)generator->options->n);
		transaction_of_key(generator, transaction, OPERATION_UPDATE, key,
				   value(generator, 'f' - 'a'), VALUE_SIZE);
		break;
	default:
		transaction_of_key(generator, transaction, OPERATION_DELETE, generator->number,
				   NULL, 0);
	}
}

static const struct workload mobibench = {
	.name = "mobibench",
	.summary = "Mobibench: n inserts, updates and deletes of 100-byte values, from an empty "
		   "table",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &table,
	.value_size = VALUE_SIZE,
	.check = tool_check,
	.buffer_size = buffer_size,
	.fill = next,
	.next = next,
};
WORKLOAD_REGISTER(mobibench)

static const struct workload mobibench_2014 = {
	.name = "mobibench_2014",
	.summary = "Mobibench as its program does it: the table made in the mode under test, each "
		   "operation a process of its own",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &table_2014,
	.value_size = VALUE_SIZE,
	.chained = true,
	.creates = true,
	.reopens = true,
	.check = tool_check,
	.buffer_size = buffer_size,
	.next = next,
};
WORKLOAD_REGISTER(mobibench_2014)

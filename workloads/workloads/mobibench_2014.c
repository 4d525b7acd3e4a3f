/* Mobibench's SQLite test as its program does it (ESOS-Lab/Mobibench, shell/mobibench.c of 2014 to
 * 2016, thread_main_db): `mobibench -d 0`, `-d 1`, `-d 2`, each a process of its own, with one
 * thread. Beside what the workload mobibench does, the table is made with the journal mode under
 * test, before anything is timed, so the journal or log is there before the database grows; and
 * each process opens the database anew, so in WAL each has a new log. Its checkpoint at the end of
 * each, which it times, is --checkpoint-every N, and its page size the only one. Not as the
 * program: its rand() is the driver's generator; nothing is dropped from the page cache; a DELETE's
 * process also drops the table and unlinks the database, when nothing is timed any more. */
#include "text.h"
#include "tool.h"

enum { VALUE_SIZE = 100, LETTERS = 10, REPEATED = 10 };

static const char *const create[] = {"CREATE TABLE IF NOT EXISTS tblMyList (id INTEGER PRIMARY KEY "
				     "autoincrement, Value TEXT not "
				     "null, creation_date long);",
				     NULL};
static const char *const names[] = {"tblMyList", NULL};

static const struct table table = {
	.create = create,
	.names = names,
	.scan = "SELECT * FROM tblMyList",
	.value_column = 1,
	.operations =
		{
			[OPERATION_INSERT] = "INSERT INTO tblMyList(Value) VALUES(%v);",
			[OPERATION_UPDATE] = "UPDATE tblMyList SET Value = %v WHERE id = %k;",
			[OPERATION_DELETE] = "DELETE FROM tblMyList WHERE id=%k;",
			[OPERATION_READ] = "SELECT Value FROM tblMyList WHERE id=%k;",
		},
};

static size_t buffer_size(const struct options *options)
{
	(void)options;
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

static const struct workload mobibench_2014 = {
	.name = "mobibench_2014",
	.summary = "Mobibench as its program does it: the table made in the mode under test, each "
		   "operation a process of its own",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.table = &table,
	.value_size = VALUE_SIZE,
	.chained = true,
	.creates = true,
	.reopens = true,
	.check = tool_check,
	.buffer_size = buffer_size,
	.next = next,
};
WORKLOAD_REGISTER(mobibench_2014)

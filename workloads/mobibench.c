/* Mobibench's SQLite test (ESOS-Lab/Mobibench, shell/mobibench.c of 2015, as
 * papers of that time ran it: `-d 0`, `-d 1`, `-d 2`, one thread): n inserts,
 * n updates, n deletes of one row each, literal SQL in autocommit. Fixed in
 * its source: the table, both values of 100 characters, an update's id drawn
 * from 1 to n, a delete's id counted from 0 to n - 1, so the first one hits
 * nothing. `creation_date` is never set. All updates write the same value, so
 * the second one of a row changes no byte: SQLite 3.46.1 then writes and syncs
 * nothing, 3.8.11.1 does it all again. Its rand() is replaced by the
 * driver's generator, its `sysctl drop_caches` by nothing: the table is empty,
 * or was just read by `warm`. */
#include "database.h"
#include "text.h"
#include "tool.h"

enum { VALUE_SIZE = 100, TEXT_AROUND_VALUE = 128, LETTERS = 10, REPEATED = 10 };

static const struct workload mobibench;

static size_t statement_size(const struct options *options)
{
	(void)options;
	return VALUE_SIZE + TEXT_AROUND_VALUE;
}

/* Ten each of ten letters, from `first` on: a to j, or f to j and a to e. */
static char *append_value(char *end, int first)
{
	for (int i = 0; i < LETTERS; i++)
		end = append_letters(end, (char)('a' + (first + i) % LETTERS), REPEATED);
	return end;
}

static void next(struct generator *generator, struct statement *statement)
{
	char *end = generator->buffer;

	statement->value_bytes = VALUE_SIZE;
	switch (generator->phase) {
	case TOOL_INSERT:
		end = append(end, "INSERT INTO tblMyList(Value) VALUES('");
		end = append_value(end, 0);
		end = append(end, "');");
		break;
	case TOOL_UPDATE:
		end = append(end, "UPDATE tblMyList SET Value = '");
		end = append_value(end, 'f' - 'a');
		end = append(end, "' WHERE id = ");
		end = append_number(end, 1 + (int64_t)prng_below(&generator->prng,
								 (uint64_t)generator->options->n));
		end = append(end, ";");
		break;
	default:
		end = append(end, "DELETE FROM tblMyList WHERE id=");
		end = append_number(end, generator->number);
		end = append(end, ";");
		statement->value_bytes = 0;
	}
	statement->text = generator->buffer;
	statement->length = (size_t)(end - generator->buffer);
}

static void populate(sqlite3 *db, const struct options *options)
{
	database_run(db, "CREATE TABLE tblMyList(id INTEGER PRIMARY KEY AUTOINCREMENT, "
			 "Value TEXT NOT NULL, creation_date LONG)");
	tool_fill(db, options, &mobibench);
}

static int64_t warm(sqlite3 *db, const struct options *options)
{
	return tool_warm(db, options, "SELECT * FROM tblMyList");
}

static int64_t count(sqlite3 *db)
{
	return database_number(db, "SELECT count(*) FROM tblMyList");
}

static const struct workload mobibench = {
	.name = "mobibench",
	.summary = "Mobibench: n inserts, updates and deletes of 100-byte values, from an empty "
		   "table",
	.phases = tool_phases,
	.phase_count = TOOL_PHASES,
	.value_size = VALUE_SIZE,
	.check = tool_check,
	.populate = populate,
	.warm = warm,
	.count = count,
	.statement_size = statement_size,
	.next = next,
};
WORKLOAD_REGISTER(mobibench)

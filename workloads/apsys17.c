/* The workload of "The Dangers and Complexities of SQLite Benchmarking"
 * (APSys 2017), as the authors' app does it: inserts, then updates, then
 * deletes, one literal statement per transaction. Rows are picked uniformly
 * in [0, max id) with replacement, so some statements hit a row that does
 * not exist and change nothing. */
#include "fail.h"
#include "sample.h"
#include "text.h"
#include "workload.h"

enum { INSERT, UPDATE, DELETE };

static const struct workload_phase phases[] = {
	[INSERT] = {"insert", "insert", ROWS_ADDED},
	[UPDATE] = {"update", "update", ROWS_SAME},
	[DELETE] = {"delete", "delete", ROWS_REMOVED},
};

/* More than any of the texts below needs beside the value. */
enum { TEXT_AROUND_VALUE = 128 };

static void check(const struct options *options, size_t first_phase)
{
	if (options->rows == 0 && first_phase != INSERT)
		fail_usage("--phases: %s of an empty table changes nothing; insert first, or give "
			   "--rows",
			   phases[first_phase].name);
}

static size_t statement_size(const struct options *options)
{
	return (size_t)options->value_size + TEXT_AROUND_VALUE;
}

static char *append_id(char *end, struct generator *generator)
{
	/* An empty table has no id to pick from: pick 0, which no row has. */
	uint64_t limit = generator->input > 0 ? (uint64_t)generator->input : 1;

	return append_number(end, (int64_t)prng_below(&generator->prng, limit));
}

static void next(struct generator *generator, struct statement *statement)
{
	size_t value_size = (size_t)generator->options->value_size;
	char *end = generator->buffer;

	statement->value_bytes = value_size;
	switch (generator->phase) {
	case INSERT:
		end = append(end, "INSERT INTO sample(value) VALUES('");
		end = append_letters(end, 'i', value_size);
		end = append(end, "');");
		break;
	case UPDATE:
		end = append(end, "UPDATE sample SET value='");
		end = append_letters(end, 'u', value_size);
		end = append(end, "' WHERE id=");
		end = append_id(end, generator);
		end = append(end, ";");
		break;
	default:
		end = append(end, "DELETE FROM sample WHERE id=");
		end = append_id(end, generator);
		end = append(end, ";");
		statement->value_bytes = 0;
	}
	statement->text = generator->buffer;
	statement->length = (size_t)(end - generator->buffer);
}

static const struct workload apsys17 = {
	.name = "apsys17",
	.summary = "n inserts, n updates, n deletes, one statement per transaction",
	.phases = phases,
	.phase_count = sizeof(phases) / sizeof(phases[0]),
	.check = check,
	.populate = sample_populate,
	.warm = sample_warm,
	.count = sample_count,
	.phase_input = sample_max_id,
	.statement_size = statement_size,
	.next = next,
};
WORKLOAD_REGISTER(apsys17)

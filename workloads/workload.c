/* Registers the workloads that are linked in, checks the options of the chosen one, selects its
 * phases, and generates its transactions. */
#include "workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "fail.h"

const struct operation_traits operation_traits[OPERATION_KINDS] = {
#define OPERATION(name, word, mutates, reads, rows) \
	[OPERATION_##name] = {word, mutates, reads, rows},
#include "operations.h"
#undef OPERATION
};

enum operation_kind operation_of_word(const char *word, size_t length)
{
	size_t kind = 0;

	while (kind < OPERATION_KINDS && (strlen(operation_traits[kind].word) != length ||
					  strncmp(operation_traits[kind].word, word, length) != 0))
		kind++;
	return (enum operation_kind)kind;
}

const char *workload_names[MAX_WORKLOADS + 1];
static const struct workload *workloads[MAX_WORKLOADS];

void workload_register(const struct workload *workload)
{
	size_t i = 0;

	while (workload_names[i] != NULL)
		i++;
	if (i == MAX_WORKLOADS)
		fail("more than %d workloads are linked in", MAX_WORKLOADS);
	if (workload->phase_count > MAX_WORKLOAD_PHASES)
		fail("%s has more than %d phases", workload->name, MAX_WORKLOAD_PHASES);
	workload_names[i] = workload->name;
	workloads[i] = workload;
}

const struct workload *workload_at(size_t index)
{
	return workloads[index];
}

static size_t find_phase(const struct workload *workload, const char *name, size_t length)
{
	for (size_t i = 0; i < workload->phase_count; i++)
		if (strlen(workload->phases[i].name) == length &&
		    strncmp(workload->phases[i].name, name, length) == 0)
			return i;
	fail_usage("--phases: %s has no phase '%.*s'; see driver --help", workload->name,
		   (int)length, name);
}

static size_t parse_phases(const struct workload *workload, const char *text,
			   size_t phases[MAX_WORKLOAD_PHASES])
{
	size_t count = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		size_t phase = find_phase(workload, text, length);

		if (count > 0 && phase <= phases[count - 1])
			fail_usage("--phases: %s comes before %s in %s",
				   workload->phases[phase].name,
				   workload->phases[phases[count - 1]].name, workload->name);
		if (workload->chained && phase != count)
			fail_usage("--phases: %s of %s needs what %s made",
				   workload->phases[phase].name, workload->name,
				   workload->phases[phase - 1].name);
		phases[count++] = phase;
		if (text[length] == '\0')
			return count;
		text += length + 1;
	}
}

size_t workload_select(const struct options *options, size_t phases[MAX_WORKLOAD_PHASES])
{
	const struct workload *workload = workload_at((size_t)options->workload);
	size_t count = workload->phase_count;

	if (options->phases != NULL)
		count = parse_phases(workload, options->phases, phases);
	else
		for (size_t i = 0; i < count; i++)
			phases[i] = i;
	if (workload->check != NULL)
		workload->check(options, phases[0]);
	return count;
}

void workload_check(const struct options *options)
{
	const struct workload *workload = workload_at((size_t)options->workload);

	if (workload->table->operations[OPERATION_INSERT] == NULL && !engine.has_sql)
		fail_usage("--workload: %s is made of SQL texts, and %s has no SQL", workload->name,
			   engine.title());
	if (workload->value_size != 0 && options->value_size != workload->value_size)
		fail_usage("--value-size: %s has values of %" PRId64 " bytes, not of %" PRId64,
			   workload->name, workload->value_size, options->value_size);
	engine_require(options);
	if (options->databases > 1 && !workload->several)
		fail_usage("--databases: %s has one, not %" PRId64, workload->name,
			   options->databases);
	if ((options->file != NULL) != (workload->open != NULL))
		fail_usage("--file: %s %s", workload->name,
			   workload->open != NULL ? "must be given one" : "takes none");
	if (options->command == COMMAND_RUN && (options->mix != NULL) != workload->mixes)
		fail_usage("--mix: %s %s", workload->name,
			   workload->mixes ? "must be given one" : "takes none");
	if (workload->open != NULL)
		workload->open(options);
}

size_t workload_batch(const struct workload *workload, const struct options *options)
{
	if (workload->mixes && options->batch > 0)
		return (size_t)options->batch;
	return workload->batch > 0 ? workload->batch : 1;
}

bool workload_check_size(const struct options *options, int64_t row, int64_t size,
			 struct error *error)
{
	const struct workload *workload = workload_at((size_t)options->workload);

	return size == options->value_size ||
	       ((workload->any_size || options->value_size_distribution == ZIPFIAN_SIZES) &&
		size > 0 && size < options->value_size) ||
	       error_set(error,
			 "row %" PRId64 " has a value of %" PRId64
			 " bytes, --value-size is %" PRId64,
			 row, size, options->value_size);
}

int64_t workload_transactions(const struct options *options, size_t phase)
{
	const struct workload *workload = workload_at((size_t)options->workload);

	return workload->transactions != NULL ? workload->transactions(options, phase) : options->n;
}

/* Memory that is there. */
static void *allocate(size_t size)
{
	void *memory = malloc(size);

	if (memory == NULL)
		fail("no memory for a transaction of %zu bytes", size);
	memset(memory, 0, size);
	return memory;
}

void generator_open(struct generator *generator, const struct workload *workload,
		    const struct options *options)
{
	memset(generator, 0, sizeof(*generator));
	generator->workload = workload;
	generator->options = options;
	generator->buffer =
		allocate(workload->buffer_size != NULL ? workload->buffer_size(options) : 1);
	generator->operations =
		allocate(workload_batch(workload, options) * sizeof(struct operation));
}

void generator_begin_phase(struct generator *generator, size_t phase, int64_t last_key)
{
	generator->phase = phase;
	generator->number = 0;
	generator->last_key = last_key;
	generator->inserted = 0;
	prng_seed(&generator->prng, (uint64_t)generator->options->seed, phase);
}

void generator_next(struct generator *generator, struct transaction *transaction)
{
	generator->workload->next(generator, transaction);
	generator->number++;
}

void generator_fill(struct generator *generator, struct transaction *transaction)
{
	generator->workload->fill(generator, transaction);
	generator->number++;
}

void generator_close(struct generator *generator)
{
	free(generator->buffer);
	free(generator->operations);
}

#include "workload.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

const char *workload_names[MAX_WORKLOADS + 1];
static const struct workload *workloads[MAX_WORKLOADS];

void workload_register(const struct workload *workload)
{
	size_t i = 0;

	while (workload_names[i] != NULL)
		i++;
	if (i == MAX_WORKLOADS)
		fail("more than %d workloads are linked in", MAX_WORKLOADS);
	workload_names[i] = workload->name;
	workloads[i] = workload;
}

const struct workload *workload_at(size_t index)
{
	return workloads[index];
}

void generator_open(struct generator *generator, const struct workload *workload,
		    const struct options *options)
{
	size_t size = workload->statement_size(options);

	memset(generator, 0, sizeof(*generator));
	generator->options = options;
	generator->buffer = malloc(size);
	if (generator->buffer == NULL)
		fail("no memory for a statement of %zu bytes", size);
	memset(generator->buffer, 0, size);
}

void generator_begin_phase(struct generator *generator, size_t phase, int64_t input)
{
	generator->phase = phase;
	generator->input = input;
	prng_seed(&generator->prng, (uint64_t)generator->options->seed, phase);
}

void generator_close(struct generator *generator)
{
	free(generator->buffer);
	generator->buffer = NULL;
}

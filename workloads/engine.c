/* Calls the optional hooks of the driver's engine (engine.h), or does the default where one is
 * NULL; rejects options that need a missing hook. */
#include "engine.h"

#include <inttypes.h>

#include "fail.h"

size_t engine_setting_count(void)
{
	size_t count = 0;

	while (engine.settings != NULL && engine.settings[count].name != NULL)
		count++;
	return count;
}

bool engine_create_tables(struct database *database, struct error *error)
{
	return engine.create_tables == NULL || engine.create_tables(database, error);
}

bool engine_load(struct database *database, const struct transaction *transaction,
		 struct error *error)
{
	struct rendered rendered;
	struct outcome outcome;

	if (engine.load != NULL)
		return engine.load(database, transaction, error);
	return engine.render(database, transaction, &rendered, error) &&
	       engine_commit(database, &outcome, error);
}

bool engine_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	*outcome = (struct outcome){0, 0, 0};
	return engine.commit(database, outcome, error);
}

bool engine_count(struct database *database, int64_t *rows, struct error *error)
{
	return (engine.count != NULL ? engine.count : engine.scan)(database, rows, error);
}

bool engine_read_properties(struct database *database, struct error *error)
{
	return engine.read_properties == NULL || engine.read_properties(database, error);
}

void engine_write_properties(struct json *json, size_t number)
{
	if (engine.write_properties != NULL) {
		engine.write_properties(json, number);
		return;
	}
	json_begin(json, "properties", '{');
	json_end(json, '}');
}

void engine_require(const struct options *options)
{
	const struct workload *workload = workload_at((size_t)options->workload);

	if (options->command != COMMAND_RUN)
		return;
	if (workload->asks_last_key && engine.last_key == NULL)
		fail_usage("--workload: %s begins with the last key, which %s cannot find",
			   workload->name, engine.title());
	if (options->checkpoint_every > 0 && engine.maintain == NULL)
		fail_usage("--checkpoint-every: %s has no checkpoint, so not every %" PRId64,
			   engine.title(), options->checkpoint_every);
}

#include "engine.h"

#include <inttypes.h>
#include <stdio.h>

#include "fail.h"

size_t engine_setting_count(void)
{
	size_t count = 0;

	while (engine.settings != NULL && engine.settings[count].name != NULL)
		count++;
	return count;
}

void engine_print_version(void)
{
	if (engine.print_version != NULL)
		engine.print_version();
	else
		puts(engine.title());
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

size_t engine_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	return engine.file_sizes != NULL ? engine.file_sizes(path, sizes) : 0;
}

bool engine_log_prepare(size_t transactions, struct error *error)
{
	if (engine.log_prepare == NULL)
		return error_set(error, "--vfs-log, --written: %s has no log of its calls",
				 engine.title());
	return engine.log_prepare(transactions, error);
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

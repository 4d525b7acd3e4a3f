/* Writes config.json of a run: requested and effective settings, versions, numbers of operations
 * and rows, file sizes. It is the last result file, so a folder with it has a complete run. */
#include "config.h"

#include "engine.h"
#include "instruction.h"
#include "json.h"
#include "output.h"
#include "process_memory.h"
#include "workload.h"

static void write_file_sizes(struct json *json, const char *key, const struct file_sizes *sizes)
{
	json_begin(json, key, '{');
	for (size_t i = 0; i < sizes->count; i++)
		json_number(json, sizes->of[i].role, sizes->of[i].bytes);
	json_end(json, '}');
}

/* Sizes of all databases together. */
static void write_sizes(struct json *json, const struct options *options,
			const struct findings *findings)
{
	struct file_sizes before = findings->databases[0].before_close;
	struct file_sizes after = findings->databases[0].after_close;

	for (int64_t i = 1; i < options->databases; i++) {
		file_sizes_add(&before, &findings->databases[i].before_close);
		file_sizes_add(&after, &findings->databases[i].after_close);
	}
	write_file_sizes(json, "file_sizes_before_close", &before);
	write_file_sizes(json, "file_sizes", &after);
}

/* Members for each database, if there are several. */
static void write_databases(struct json *json, const struct options *options,
			    const struct findings *findings)
{
	if (options->databases == 1)
		return;
	json_begin(json, "databases", '[');
	for (size_t i = 0; i < (size_t)options->databases; i++) {
		const struct database_findings *found = &findings->databases[i];

		json_begin(json, NULL, '{');
		json_text(json, "path", database_path(options, i));
		json_number(json, "transactions", found->transactions);
		json_number(json, "changes", found->changes);
		settings_write_effective(json, i);
		engine_write_properties(json, i);
		write_file_sizes(json, "file_sizes_before_close", &found->before_close);
		write_file_sizes(json, "file_sizes", &found->after_close);
		json_end(json, '}');
	}
	json_end(json, ']');
}

static void write_driver(struct json *json, const struct options *options)
{
	json_begin(json, "driver", '{');
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (o->key == NULL ||
		    (o->kind == OPTION_TEXT && option_value_text(o, options, NULL, 0) == NULL))
			continue;
		if (o->kind == OPTION_INTEGER)
			json_number(json, o->key, option_number(o, options));
		else
			json_text(json, o->key, option_value_text(o, options, NULL, 0));
	}
	json_text(json, "cache", options->drop_caches != NULL ? "cold" : "warm");
	json_end(json, '}');
}

static void write_transactions(struct json *json, const struct options *options)
{
	const struct workload *workload = workload_at((size_t)options->workload);
	size_t phases[MAX_WORKLOAD_PHASES];
	size_t count = workload_select(options, phases);

	json_begin(json, "transactions", '{');
	for (size_t i = 0; i < count; i++)
		json_number(json, workload->phases[phases[i]].name,
			    workload_transactions(options, phases[i]));
	json_end(json, '}');
}

/* Operations in the transactions of each op of transactions.csv. */
static void write_operations(struct json *json, const struct workload *workload,
			     const struct findings *findings)
{
	int64_t of_kind[OPERATION_KINDS] = {0};

	json_begin(json, "operations", '{');
	for (size_t phase = 0; phase < workload->phase_count; phase++) {
		int64_t of_phase = 0;

		for (size_t kind = 0; kind < OPERATION_KINDS; kind++) {
			of_phase += findings->operations[phase][kind];
			if (!workload->phases[phase].is_group)
				of_kind[kind] += findings->operations[phase][kind];
		}
		if (workload->phases[phase].is_group && of_phase > 0)
			json_number(json, workload->phases[phase].name, of_phase);
	}
	for (size_t kind = 0; kind < OPERATION_KINDS; kind++)
		if (of_kind[kind] > 0)
			json_number(json, operation_traits[kind].word, of_kind[kind]);
	json_end(json, '}');
}

void config_write(const struct options *options, const struct findings *findings)
{
	struct json json = {.file = output_open(options->output_dir, "config.json")};

	json_begin(&json, NULL, '{');
	write_driver(&json, options);
	write_transactions(&json, options);
	write_operations(&json, workload_at((size_t)options->workload), findings);
	json_text(&json, "engine", engine.name);
	engine.write_version(&json);
	settings_write_requested(&json, options);
	settings_write_effective(&json, 0);
	engine_write_properties(&json, ALL_DATABASES);
	json_number(&json, "sql_bytes", findings->sql_bytes);
	json_number(&json, "rows_before", findings->rows_before);
	json_number(&json, "rows_after", findings->rows_after);
	write_sizes(&json, options, findings);
	write_databases(&json, options, findings);
	process_memory_write(&json);
	instruction_write(&json, findings->monotonic_ns, findings->realtime_ns);
	json_text(&json, "status", "ok");
	json_end(&json, '}');
	output_commit(json.file);
}

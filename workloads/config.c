#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "fail.h"
#include "json.h"
#include "output.h"
#include "settings.h"
#include "sqlite3.h"
#include "workload.h"

static int64_t file_size(const char *database, const char *suffix)
{
	char path[PATH_MAX];
	struct stat status;

	snprintf(path, sizeof(path), "%s%s", database, suffix);
	if (stat(path, &status) == 0)
		return status.st_size;
	if (errno != ENOENT)
		fail("size of %s: %s", path, strerror(errno));
	return 0;
}

void config_file_sizes(const char *database, struct file_sizes *sizes)
{
	sizes->database = file_size(database, "");
	sizes->journal = file_size(database, "-journal");
	sizes->wal = file_size(database, "-wal");
}

static void write_file_sizes(struct json *json, const char *key, const struct file_sizes *sizes)
{
	json_begin(json, key, '{');
	json_number(json, "database", sizes->database);
	json_number(json, "journal", sizes->journal);
	json_number(json, "wal", sizes->wal);
	json_end(json, '}');
}

static void write_driver(struct json *json, const struct options *options)
{
	json_begin(json, "driver", '{');
	for (const struct option *o = option_table; o < option_table + option_count; o++) {
		if (o->section != SECTION_DRIVER)
			continue;
		if (o->kind == OPTION_INTEGER)
			json_number(json, o->key, option_number(o, options));
		else
			json_text(json, o->key, option_value_text(o, options, NULL, 0));
	}
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

static void write_sqlite(struct json *json)
{
	const char *option;

	json_begin(json, "sqlite", '{');
	json_text(json, "version", sqlite3_libversion());
	json_text(json, "source_id", sqlite3_sourceid());
	json_begin(json, "compile_options", '[');
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		json_text(json, NULL, option);
	json_end(json, ']');
	json_end(json, '}');
}

void config_write(const struct options *options, const struct findings *findings)
{
	struct json json = {.file = output_open(options->output_dir, "config.json")};

	json_begin(&json, NULL, '{');
	write_driver(&json, options);
	write_transactions(&json, options);
	write_sqlite(&json);
	settings_write(&json, options);
	json_text(&json, "sql_sha256", findings->sql_sha256);
	json_number(&json, "sql_bytes", findings->sql_bytes);
	json_number(&json, "rows_before", findings->rows_before);
	json_number(&json, "rows_after", findings->rows_after);
	write_file_sizes(&json, "file_sizes_before_close", &findings->before_close);
	write_file_sizes(&json, "file_sizes", &findings->after_close);
	json_begin(&json, "clock", '{');
	json_number(&json, "monotonic_ns", (int64_t)findings->monotonic_ns);
	json_number(&json, "realtime_ns", (int64_t)findings->realtime_ns);
	json_end(&json, '}');
	json_text(&json, "status", "ok");
	json_end(&json, '}');
	output_commit(json.file);
}

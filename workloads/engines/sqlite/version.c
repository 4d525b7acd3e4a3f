/* Print the SQLite release and its compile options. */
#include <stdio.h>

#include "hooks.h"
#include "sqlite3.h"

void sqlite_print_version(void)
{
	const char *option;

	printf("%s\nsource id %s\n", engine.title(), sqlite3_sourceid());
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		printf("compile option %s\n", option);
}

void sqlite_write_version(struct json *json)
{
	const char *option;

	json_begin(json, engine.name, '{');
	json_text(json, "version", sqlite3_libversion());
	json_text(json, "source_id", sqlite3_sourceid());
	json_begin(json, "compile_options", '[');
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		json_text(json, NULL, option);
	json_end(json, ']');
	json_end(json, '}');
}

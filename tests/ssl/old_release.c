/* Loads the extension as a SQLite of before 3.34 would, and prints what it says: `old_release
 * FILE`. Of SQLite's functions there are those alone that it may call then. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sqlite3ext.h"

static int number(void)
{
	return 3033000;
}

static const char *version(void)
{
	return "3.33.0";
}

static char *print(const char *format, ...)
{
	static char text[200];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	return text;
}

int main(int count, char **words)
{
	sqlite3_api_routines api = {
		.libversion = version, .libversion_number = number, .mprintf = print};
	int (*init)(sqlite3 *, char **, const sqlite3_api_routines *);
	void *library = count == 2 ? dlopen(words[1], RTLD_NOW) : NULL;
	void *address = library != NULL ? dlsym(library, "sqlite3_ssl_init") : NULL;
	char *said = NULL;

	if (address == NULL)
		return 2;
	memcpy(&init, &address, sizeof(init));
	if (init(NULL, &said, &api) != SQLITE_ERROR)
		return 1;
	puts(said);
	return 0;
}

/* Parses the arguments of CREATE VIRTUAL TABLE … USING sqlitekv: the database's folder, the
 * options sync, cache and form, and the columns. */
#include "kv.h"

#include <string.h>

/* CREATE VIRTUAL TABLE's arguments begin with the module, the schema and the table. */
enum { PATH = 3, FIRST_ARGUMENT = 4 };

/* Returns the length of the argument's name if it is `name = value`, 0 for a column. */
static size_t option_name(const char *argument, const char **value)
{
	size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
	const char *rest = argument + length;

	rest += strspn(rest, " \t\r\n");
	if (length == 0 || *rest != '=')
		return 0;
	*value = rest + 1 + strspn(rest + 1, " \t\r\n");
	return length;
}

static bool is_name(const char *argument, size_t length, const char *name)
{
	return strlen(name) == length && sqlite3_strnicmp(argument, name, (int)length) == 0;
}

static bool read_bytes(const char *text, int64_t *number)
{
	size_t digits = strspn(text, "0123456789");

	*number = 0;
	if (digits == 0 || digits > 10 || text[digits] != '\0')
		return false;
	for (; *text != '\0'; text++)
		*number = 10 * *number + (*text - '0');
	return *number <= INT32_MAX;
}

static int read_option(struct request *request, const char *argument, size_t length,
		       const char *value, char **message)
{
	if (is_name(argument, length, "sync")) {
		request->store.sync_given = true;
		request->store.sync = sqlite3_stricmp(value, "full") == 0;
		return request->store.sync || sqlite3_stricmp(value, "off") == 0
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR, "sync=%s: sync is full or off",
					 value);
	}
	if (is_name(argument, length, "cache")) {
		request->store.cache_given = true;
		return read_bytes(value, &request->store.cache_size)
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR,
					 "cache=%s: cache is a number of bytes", value);
	}
	if (is_name(argument, length, "form")) {
		request->blind = sqlite3_stricmp(value, "direct") == 0;
		return request->blind || sqlite3_stricmp(value, "table") == 0
			       ? SQLITE_OK
			       : kv_fail(message, SQLITE_ERROR, "form=%s: form is table or direct",
					 value);
	}
	return kv_fail(message, SQLITE_ERROR, "%.*s is not an option; sync, cache and form are",
		       (int)length, argument);
}

/* Returns the path without its quotes. NULL: no memory. */
static char *unquote(const char *argument)
{
	char quote = argument[0], *path = sqlite3_mprintf("%s", argument), *end = path;

	if (path == NULL || (quote != '\'' && quote != '"'))
		return path;
	for (const char *place = argument + 1; *place != '\0'; place++) {
		if (*place == quote && *++place != quote)
			break;
		*end++ = *place;
	}
	*end = '\0';
	return path;
}

int request_read(int count, const char *const *arguments, struct request *request, char **message)
{
	sqlite3_str *declaration = sqlite3_str_new(NULL);
	int result = SQLITE_OK;

	*request = (struct request){0};
	if (count <= PATH || arguments[PATH][0] == '\0')
		result = kv_fail(message, SQLITE_ERROR,
				 "the first argument is the database's folder");
	else if ((request->path = unquote(arguments[PATH])) == NULL)
		result = SQLITE_NOMEM;
	for (int i = FIRST_ARGUMENT; result == SQLITE_OK && i < count; i++) {
		const char *value;
		size_t length = option_name(arguments[i], &value);

		if (length > 0)
			result = read_option(request, arguments[i], length, value, message);
		else
			sqlite3_str_appendf(declaration, "%s%s",
					    sqlite3_str_length(declaration) > 0 ? ", " : "",
					    arguments[i]);
	}
	if (result == SQLITE_OK)
		result = sqlite3_str_errcode(declaration);
	request->declaration = sqlite3_str_finish(declaration);
	if (result == SQLITE_OK && request->declaration != NULL)
		result = schema_parse(request->declaration, &request->schema, message);
	return result;
}

void request_free(struct request *request)
{
	schema_free(&request->schema);
	sqlite3_free(request->path);
	sqlite3_free(request->declaration);
}

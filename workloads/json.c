/* Writes one JSON document, one member a line. */
#include "json.h"

#include <inttypes.h>

static void write_string(FILE *file, const char *text)
{
	fputc('"', file);
	for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			fprintf(file, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(file, "\\u%04x", *c);
		else
			fputc(*c, file);
	}
	fputc('"', file);
}

static void new_line(struct json *json)
{
	fprintf(json->file, "\n%*s", 2 * json->depth, "");
}

static void start_member(struct json *json, const char *key)
{
	if (json->members++ > 0)
		fputc(',', json->file);
	if (json->depth > 0)
		new_line(json);
	if (key != NULL) {
		write_string(json->file, key);
		fputs(": ", json->file);
	}
}

void json_begin(struct json *json, const char *key, char bracket)
{
	start_member(json, key);
	fputc(bracket, json->file);
	json->depth++;
	json->members = 0;
}

void json_end(struct json *json, char bracket)
{
	json->depth--;
	if (json->members > 0)
		new_line(json);
	fputc(bracket, json->file);
	/* The closed object is a member of the enclosing one. */
	json->members = 1;
	if (json->depth == 0)
		fputc('\n', json->file);
}

void json_text(struct json *json, const char *key, const char *text)
{
	start_member(json, key);
	write_string(json->file, text);
}

void json_number(struct json *json, const char *key, int64_t number)
{
	start_member(json, key);
	fprintf(json->file, "%" PRId64, number);
}

void json_digits(struct json *json, const char *key, int64_t number)
{
	start_member(json, key);
	fprintf(json->file, "\"%" PRId64 "\"", number);
}

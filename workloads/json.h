/* Writes one JSON document, one member a line. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Zero it, but for the file, to start. */
struct json {
	FILE *file;
	int depth;
	int members; /* written so far at this depth */
};

/* Opens an object ('{') or an array ('['). `key` is NULL in an array and at
 * the top. */
void json_begin(struct json *json, const char *key, char bracket);

/* Closes it with '}' or ']'. */
void json_end(struct json *json, char bracket);

/* A text, with all that JSON wants escaped. */
void json_text(struct json *json, const char *key, const char *text);

/* A whole number; and one as a text, as the members of `properties` are. */
void json_number(struct json *json, const char *key, int64_t number);
void json_digits(struct json *json, const char *key, int64_t number);

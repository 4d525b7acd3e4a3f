/* Builds SQL texts in a buffer: each function appends a text, letters or a number at `end`, where
 * the text ends so far, and returns its new end. The buffer is large enough. */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static inline char *append(char *end, const char *text)
{
	size_t length = strlen(text);

	memcpy(end, text, length + 1);
	return end + length;
}

/* `count` times the same letter. */
static inline char *append_letters(char *end, char letter, size_t count)
{
	memset(end, letter, count);
	end[count] = '\0';
	return end + count;
}

static inline char *append_number(char *end, int64_t number)
{
	return end + sprintf(end, "%" PRId64, number);
}

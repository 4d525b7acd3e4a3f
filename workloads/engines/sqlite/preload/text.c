/* A growing text buffer, and how a trace file writes SQL values into it: null, numbers, JSON
 * strings, blobs in hex (docs/how-to/trace.md). */
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *text, const void *data, size_t size)
{
	if (text->room - text->size < size) {
		size_t room = 2 * (text->size + size);
		char *larger = realloc(text->data, room);

		if (larger == NULL) {
			text->failed = true;
			return;
		}
		text->data = larger;
		text->room = room;
	}
	if (size > 0)
		memcpy(text->data + text->size, data, size);
	text->size += size;
}

void text_print(struct text *text, const char *format, ...)
{
	char line[400];
	va_list list;

	if (text == NULL)
		return;
	va_start(list, format);
	vsnprintf(line, sizeof(line), format, list);
	va_end(list);
	text_add(text, line, strlen(line));
}

void text_clear(struct text *text)
{
	text->size = 0;
	text->failed = false;
}

void text_free(struct text *text)
{
	free(text->data);
	*text = (struct text){0};
}

void text_null(struct text *text)
{
	text_print(text, " null");
}

void text_integer(struct text *text, int64_t value)
{
	text_print(text, " %" PRId64, value);
}

void text_real(struct text *text, double value)
{
	static const char usual[] = "-+0123456789abcdefinpx";
	char printed[40], *end = printed;

	/* SQLite takes it for that */
	if (isnan(value)) {
		text_null(text);
		return;
	}
	snprintf(printed, sizeof(printed), "%a", value);
	/* the program's locale may have another point, also of several bytes */
	for (const char *c = printed; *c != '\0'; c++)
		if (strchr(usual, *c) != NULL)
			*end++ = *c;
		else if (end[-1] != '.')
			*end++ = '.';
	*end = '\0';
	text_print(text, " %s", printed);
}

void text_zeros(struct text *text, int64_t size)
{
	text_print(text, " zeros:%" PRId64, size > 0 ? size : 0);
}

static void add_hex(struct text *text, const char *word, const uint8_t *data, size_t size)
{
	text_print(text, " %s:", word);
	for (size_t i = 0; i < size; i++)
		text_print(text, "%02x", data[i]);
}

void text_blob(struct text *text, const void *data, size_t size)
{
	add_hex(text, "blob", data, size);
}

/* Returns the length of the UTF-8 character that begins there; 0: invalid. */
static size_t character(const uint8_t *data, size_t size)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = data[0] < 0x80	 ? 1
			: data[0] < 0xc0 ? 0
			: data[0] < 0xe0 ? 2
			: data[0] < 0xf0 ? 3
			: data[0] < 0xf8 ? 4
					 : 0;
	uint32_t code = data[0] & (0xffu >> (length + 1));

	if (length <= 1 || length > size)
		return length <= size ? length : 0;
	for (size_t i = 1; i < length; i++) {
		if ((data[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (data[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

void text_string(struct text *text, const void *data, size_t size)
{
	const uint8_t *bytes = data;
	size_t length;

	for (size_t i = 0; i < size; i += length)
		if ((length = character(bytes + i, size - i)) == 0) {
			add_hex(text, "text", bytes, size);
			return;
		}
	text_add(text, " \"", 2);
	for (size_t i = 0; i < size; i++)
		if (bytes[i] < ' ')
			text_print(text, "\\u%04x", bytes[i]);
		else if (bytes[i] == '"' || bytes[i] == '\\')
			text_print(text, "\\%c", bytes[i]);
		else
			text_add(text, bytes + i, 1);
	text_add(text, "\"", 1);
}

void text_wide(struct text *text, const void *data, size_t size, bool big_endian)
{
	const uint8_t *bytes = data;

	/* JSON escapes are UTF-16, with surrogates */
	text_add(text, " \"", 2);
	for (size_t i = 0; i + 1 < size; i += 2)
		text_print(text, "\\u%02x%02x", bytes[big_endian ? i : i + 1],
			   bytes[big_endian ? i + 1 : i]);
	text_add(text, "\"", 1);
}

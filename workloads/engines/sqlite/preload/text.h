/* A growing text buffer with functions that append SQL values as a trace file has them
 * (docs/how-to/trace.md). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	char *data;
	size_t size, room;
	bool failed; /* out of memory */
};

void text_add(struct text *text, const void *data, size_t size);
void text_print(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *text);
void text_free(struct text *text);

/* These append, for example, " null", " 5", " 0x1.8p+1", " zeros:5"; nothing if `text` is NULL. */
void text_null(struct text *text);
void text_integer(struct text *text, int64_t value);
void text_real(struct text *text, double value);
void text_zeros(struct text *text, int64_t size);

/* " blob:00ff". */
void text_blob(struct text *text, const void *data, size_t size);
/* A blank and a JSON string; for invalid UTF-8 its bytes, as " text:ff". */
void text_string(struct text *text, const void *data, size_t size);

/* A blank and a JSON string, from UTF-16. */
void text_wide(struct text *text, const void *data, size_t size, bool big_endian);

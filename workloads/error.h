/* Sets a one-line error text, for the caller to handle. */
#pragma once

#include <stdbool.h>

enum { ERROR_TEXT = 1024 };

/* One line without its end; cut off where it is longer. */
struct error {
	char text[ERROR_TEXT];
};

/* Writes the line. Returns false, so that a function can end with it. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sets a one-line error text, for the caller to handle. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>

bool error_set(struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, sizeof(error->text), format, arguments);
	va_end(arguments);
	/* a message of RocksDB or SQLite, or a name in it, may have lines of its own */
	for (char *c = error->text; *c != '\0'; c++)
		if (*c == '\n' || *c == '\r')
			*c = ' ';
	return false;
}

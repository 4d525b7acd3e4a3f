/* Ends the driver with one line on stderr and an exit code: of a failed run, or of wrong usage. */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "output.h"

static void print_line(const char *format, va_list arguments)
{
	fputs("driver: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
	output_abandon();
	exit(EXIT_RUN_FAILED);
}

void fail_usage(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_line(format, arguments);
	va_end(arguments);
	exit(EXIT_USAGE);
}

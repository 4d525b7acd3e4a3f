/* Ends the driver with one line on stderr and an exit code: of a failed run, of wrong usage, or
 * when an engine's library crashes (SIGSEGV, SIGBUS, SIGFPE, SIGABRT). That line is prepared, as a
 * signal handler cannot format one. */
#include "fail.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

enum { LINE_SIZE = 512 };

static const struct {
	int number;
	const char *what;
} faults[] = {
	{SIGSEGV, "read or wrote memory that is not there"},
	{SIGBUS, "read a page of a file that is not there"},
	{SIGFPE, "divided by zero"},
	{SIGABRT, "gave up"},
};
#define FAULTS (sizeof(faults) / sizeof(faults[0]))

static char lines[FAULTS][LINE_SIZE];
static const char *driver_title;

static void end(int number)
{
	for (size_t i = 0; i < FAULTS; i++)
		if (faults[i].number == number)
			(void)!write(STDERR_FILENO, lines[i], strlen(lines[i]));
	_exit(EXIT_RUN_FAILED);
}

static void prepare(size_t fault, const char *what)
{
	size_t length;

	snprintf(lines[fault], LINE_SIZE - 1,
		 "driver: %s %s; is the database damaged, or the disk full?", driver_title, what);
	length = strlen(lines[fault]);
	for (size_t i = 0; i < length; i++)
		if (lines[fault][i] == '\n')
			lines[fault][i] = ' ';
	memcpy(lines[fault] + length, "\n", sizeof("\n"));
}

void fault_catch(const char *title)
{
	struct sigaction action = {.sa_handler = end};

	driver_title = title;
	for (size_t i = 0; i < FAULTS; i++) {
		prepare(i, faults[i].what);
		sigaction(faults[i].number, &action, NULL);
	}
}

void fault_abort(const char *text)
{
	char what[LINE_SIZE];

	if (driver_title != NULL) {
		snprintf(what, sizeof(what), "gave up: %s", text);
		for (size_t i = 0; i < FAULTS; i++)
			if (faults[i].number == SIGABRT)
				prepare(i, what);
	}
	abort();
}

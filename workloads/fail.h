/* Ends the driver with one line on stderr and an exit code: of a failed run, or of wrong usage. */
#pragma once

/* Exit codes; --help documents them. */
enum { EXIT_RUN_FAILED = 1, EXIT_USAGE = 2 };

/* The run cannot go on. Prints "driver: " and the formatted line, removes a
 * half-written output file, and exits with EXIT_RUN_FAILED. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The command line is wrong. Prints one line and exits with EXIT_USAGE. */
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

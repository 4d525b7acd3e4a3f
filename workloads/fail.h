/* Ends the driver with one line on stderr and an exit code: of a failed run, of wrong usage, or
 * when an engine's library crashes or aborts, as one that reads a damaged file may. */
#pragma once

/* Exit codes; --help documents them. */
enum { EXIT_RUN_FAILED = 1, EXIT_USAGE = 2 };

/* The run cannot go on. Prints "driver: " and the formatted line, removes a
 * half-written output file, and exits with EXIT_RUN_FAILED. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The command line is wrong. Prints one line and exits with EXIT_USAGE. */
_Noreturn void fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A check of the library failed: ends the process by SIGABRT. With fault_catch the driver prints
 * the text, in one line. */
_Noreturn void fault_abort(const char *text);

/* Ends the driver with one line and EXIT_RUN_FAILED when memory is accessed that is not there, or
 * the library gives up. `title` is the engine's. */
void fault_catch(const char *title);

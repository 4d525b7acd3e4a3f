/* The driver's main(): parses the command line and calls `populate` (populate.c) or `run` (run.c),
 * or prints the version; an assertion of the engine's library ends it with one line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "fail.h"
#include "options.h"
#include "run.h"

/* Replaces the C library's: a failed assertion in an engine's library prints one line of ours. */
_Noreturn void __assert_fail(const char *text, const char *file, unsigned int line,
			     const char *function)
{
	char failed[256];

	snprintf(failed, sizeof(failed), "%s:%u: assertion %s", file, line, text);
	fault_abort(failed);
}

int main(int argc, char **argv)
{
	struct options options;

	/* A file-size limit must be an error that the engine reports, not a signal that ends the
	 * process silently. */
	signal(SIGXFSZ, SIG_IGN);
	fault_catch(engine.title());
	options_parse(argc, argv, &options);
	switch (options.command) {
	case COMMAND_POPULATE:
		populate(&options);
		break;
	case COMMAND_RUN:
		run(&options);
		break;
	case COMMAND_VERSION:
		if (engine.print_version != NULL)
			engine.print_version();
		else
			puts(engine.title());
		break;
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("writing to stdout failed");
	return EXIT_SUCCESS;
}

/* The driver's main program: runs one workload in one configuration on an engine's database, and
 * records when each transaction began and ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "fail.h"
#include "options.h"
#include "run.h"

/* Of the C library: an assertion, which RocksDB of Debian has. It would print a line of its own. */
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

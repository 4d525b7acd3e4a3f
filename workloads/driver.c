/* The load: runs a workload on a SQLite database, one configuration per
 * process, and records when each transaction began and ended. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "fail.h"
#include "options.h"
#include "populate.h"
#include "run.h"
#include "sqlite3.h"

static void print_version(void)
{
	const char *option;

	printf("SQLite %s\nsource id %s\n", sqlite3_libversion(), sqlite3_sourceid());
	for (int i = 0; (option = sqlite3_compileoption_get(i)) != NULL; i++)
		printf("compile option %s\n", option);
}

int main(int argc, char **argv)
{
	struct options options;

	/* A file-size limit must be an error that SQLite reports, not a
	 * signal that ends the process without a word. */
	signal(SIGXFSZ, SIG_IGN);
	options_parse(argc, argv, &options);
	switch (options.command) {
	case COMMAND_POPULATE:
		populate(&options);
		break;
	case COMMAND_RUN:
		run(&options);
		break;
	case COMMAND_VERSION:
		print_version();
		break;
	}
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("writing to stdout failed");
	return EXIT_SUCCESS;
}

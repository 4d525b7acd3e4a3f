/* Opens a database after a crash, as an app does, and reads and checks all of it, in a child
 * process, as a damaged database may hang or end it; writes fields of the result for each kind of
 * crash trial, and all of them for the command `trials look`. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "look.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "fail.h"

/* Seconds on the board after which opening or reading a database counts as hung. */
enum { HUNG_SECONDS = 300 };

struct looked *look_prepare(void)
{
	struct looked *looked = mmap(NULL, sizeof(*looked), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (looked == MAP_FAILED)
		fail("no memory: %s", strerror(errno));
	return looked;
}

static void open_and_read(struct looked *looked, const struct options *driver, const char *stats)
{
	const struct workload *workload = workload_at((size_t)driver->workload);
	struct database *database;
	struct error error;

	database = engine.open(driver->database, 0, driver, workload, ENGINE_RUN, &error);
	looked->opened = database != NULL;
	looked->opened_ns = clock_now();
	if (stats != NULL)
		board_counts(stats, &looked->counts);
	if (looked->opened) {
		looked->reports = engine_recovery(database, &looked->recovery);
		looked->is_read = engine_rows(database, &looked->rows, &error);
		if (looked->is_read)
			looked->is_whole = engine_check(database, &error);
	}
	if (!looked->is_whole)
		snprintf(looked->message, sizeof(looked->message), "%.*s", MESSAGE_SIZE - 1,
			 error.text);
	/* _exit: closing would write, which is not part of recovery */
}

int look(struct looked *looked, const struct options *driver, const char *stats)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(HUNG_SECONDS);
		open_and_read(looked, driver, stats);
		_exit(EXIT_SUCCESS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("no process to open the database: %s", strerror(errno));
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void look_field(char *message)
{
	for (char *c = message; *c != '\0'; c++)
		if (*c == '"' || *c == ',' || (unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
}

void look_recovery(const struct looked *looked, FILE *output)
{
	if (looked->reports)
		fprintf(output, ",%s,%" PRId64, looked->recovery.met, looked->recovery.replayed);
	else
		fputs(",,", output);
}

int look_at(int argc, char **argv)
{
	struct looked *looked = look_prepare();
	struct options driver;
	int signal;

	options_parse(argc, argv, &driver);
	signal = look(looked, &driver, NULL);
	look_field(looked->message);
	puts("opened,is_read,is_whole,signal,rows,hash,said");
	printf("%d,%d,%d,%d,%" PRId64 ",%016" PRIx64 ",%s\n", looked->opened, looked->is_read,
	       looked->is_whole, signal, looked->rows.count, looked->rows.hash, looked->message);
	if (fflush(stdout) != 0)
		fail("what was found cannot be printed: %s", strerror(errno));
	return EXIT_SUCCESS;
}

/* Crash trials by SIGKILL: does the run in a child process, which kills itself at a given file
 * call or transaction, and checks the database. The linker's --wrap (Makefile) passes calls of the
 * driver's parts through here. */
#define _GNU_SOURCE /* PATH_MAX, kill */
#include "kill.h"

#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "engine_files.h"
#include "fail.h"
#include "file_calls.h"
#include "kept.h"
#include "look.h"
#include "options.h"
#include "output.h"
#include "plan.h"
#include "run.h"

enum { NO_NUMBER = -1 };

/* When the process kills itself; NO_NUMBER: not for this reason. */
struct crash_point {
	int64_t call, offset, bytes, kept, transaction, begun;
};
static const struct crash_point never = {NO_NUMBER, NO_NUMBER, NO_NUMBER,
					 NO_NUMBER, NO_NUMBER, NO_NUMBER};
/* State of the process that does the run. */
static struct crash_point at = never;
static int64_t calls; /* returned so far */

static struct {
	struct plan plan;
	struct options driver;
	char record[PATH_MAX];
} given;
static struct looked *looked;

struct trial {
	char number[24];
	uint64_t plan; /* hash of its line */
	uint64_t begin_ns, ended_ns, read_ns, end_ns;
	int64_t begun, acknowledged;
	int signal, complaints;
	char message[MESSAGE_SIZE];
};

_Noreturn static void die(void)
{
	kill(getpid(), SIGKILL);
	abort();
}

void __wrap_file_calls_add(const struct file_call *call)
{
	if (calls++ != at.call)
		return;
	if (call->offset != at.offset || (call->bytes != at.bytes && call->bytes != at.kept))
		fail("call %" PRId64 " is of %" PRId64 " bytes at %" PRId64 ", not %" PRId64
		     " at %" PRId64 ": this is another run",
		     at.call, call->bytes, call->offset, at.bytes, at.offset);
	die();
}

void __wrap_commitpath_tx_begin(uint64_t number, const char *phase)
{
	if ((int64_t)number == at.begun)
		die();
}

void __wrap_commitpath_tx_end(uint64_t number, const char *phase)
{
	if ((int64_t)number == at.transaction)
		die();
}

/* A killed write ends between two pages of the kernel's (generic_perform_write). */
size_t __wrap_engine_files_room(size_t size)
{
	if (at.kept == NO_NUMBER || calls != at.call || (int64_t)size != at.bytes)
		return size;
	return (size_t)at.kept;
}

static struct crash_point crash_point_of(const char *line, struct trial *trial)
{
	struct crash_point point = never;
	int fields, end = 0;

	trial->plan = plan_hash(line);
	fields = sscanf(line, "%23s call %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
			trial->number, &point.call, &point.offset, &point.bytes, &point.kept);
	if (fields >= 4)
		return point;
	fields = sscanf(line, "%23s acknowledged %" SCNd64 "%n", trial->number, &point.transaction,
			&end);
	if (fields < 2)
		fields =
			sscanf(line, "%23s begun %" SCNd64 "%n", trial->number, &point.begun, &end);
	if (fields != 2 || end == 0)
		fail("%s: '%.*s' is not a trial", given.plan.path, (int)strcspn(line, "\n"), line);
	return point;
}

/* Does the run in a child process, which kills itself at the crash point. */
static void run_until(const struct crash_point *point, const struct trial *trial)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		given.driver.announce = NULL;
		at = *point;
		run(&given.driver);
		_exit(EXIT_SUCCESS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("trial %s: no process: %s", trial->number, strerror(errno));
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail("trial %s: the run ended by itself, and was to be killed", trial->number);
}

static void run_trial(char *line, FILE *output)
{
	struct trial trial = {0};
	struct crash_point point = crash_point_of(line, &trial);

	*looked = (struct looked){0};
	trial.begin_ns = clock_now();
	kept_restore();
	run_until(&point, &trial);
	trial.ended_ns = clock_now();
	plan_count(given.record, &trial.begun, &trial.acknowledged);
	if (plan_samples(&given.plan, line))
		plan_keep(&given.plan, line, &given.driver);
	trial.signal = look(looked, &given.driver, NULL);
	trial.read_ns = clock_now();
	snprintf(trial.message, sizeof(trial.message), "%s", looked->message);
	trial.complaints = board_complaints(trial.message);
	trial.end_ns = clock_now();
	look_field(trial.message);
	fprintf(output, "%s,%016" PRIx64 ",%" PRId64 ",%" PRId64 ",%d,%d,%d,%d,%d,", trial.number,
		trial.plan, trial.acknowledged, trial.begun, looked->opened, looked->is_read,
		looked->is_whole, trial.signal, trial.complaints);
	fprintf(output, "%" PRId64 ",%016" PRIx64 ",", looked->rows.count, looked->rows.hash);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s",
		trial.begin_ns, trial.ended_ns, looked->opened_ns, trial.read_ns, trial.end_ns,
		trial.message);
	look_recovery(looked, output);
	putc('\n', output);
}

static void take(int argc, char **argv)
{
	enum { OWN = 5 };
	char path[PATH_MAX];

	if (argc < OWN + 1)
		fail_usage("usage: kill PLAN OUTPUT FILES SAMPLED run DRIVER-OPTIONS");
	plan_take(&given.plan, argv + 1);
	options_parse(argc - OWN + 1, argv + OWN - 1, &given.driver);
	output_path(given.record, given.driver.output_dir, RECORD_FILE);
	snprintf(path, sizeof(path), "%s", given.driver.database);
	kept_take(dirname(path));
	if (given.driver.persistent != NULL)
		kept_take(given.driver.persistent);
}

int kill_trials(int argc, char **argv)
{
	looked = look_prepare();
	take(argc, argv);
	plan_each(&given.plan, given.driver.announce,
		  "trial,plan,acknowledged,begun,opened,is_read,is_whole,signal,complaints,rows,"
		  "hash,begin_ns,shown_ns,opened_ns,read_ns,end_ns,said,"
		  "recovery,replayed",
		  run_trial);
	return EXIT_SUCCESS;
}

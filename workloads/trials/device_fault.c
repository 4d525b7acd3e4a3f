/* Crash trials on a device of which one command has a fault: does the run in a child process, cuts
 * the power, and checks the recovered database. The linker's --wrap (Makefile) passes calls of the
 * driver's parts through here. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, PATH_MAX */
#include "kill.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "clock.h"
#include "engine.h"
#include "fail.h"
#include "look.h"
#include "options.h"
#include "output.h"
#include "plan.h"
#include "record.h"
#include "run.h"

bool __real_engine_commit(struct database *database, struct outcome *outcome, struct error *error);
void __real_stat_snapshot(const char *label, const char *phase);
void __real_record_phase_begin(struct record *record, const char *name);

static struct {
	struct plan plan;
	const char *node, *folder, *type, *mount_options;
	struct options driver;
	char record[PATH_MAX], fault[256], power[256];
} given;
static struct looked *looked;
/* In the process that does the run: its fault, and how many calls to commit failed, in memory that
 * outlives the process. */
static const char *fault;
static int64_t *failed;

struct trial {
	char number[24], fault[64];
	uint64_t plan; /* hash of its line */
	uint64_t begin_ns, ended_ns, mounted_ns, read_ns, end_ns;
	int64_t begun, acknowledged;
	int exit_status, fired, mount_error, signal, complaints;
	uint64_t seen, sector;
	char answer[MESSAGE_SIZE], message[MESSAGE_SIZE];
};

bool __wrap_engine_commit(struct database *database, struct outcome *outcome, struct error *error)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		if (__real_engine_commit(database, outcome, error))
			return true;
		if (fault == NULL)
			return false;
		++*failed;
		fprintf(stderr, "%s\n", error->text);
	}
	return false;
}

void __wrap_stat_snapshot(const char *label, const char *phase)
{
	int error;

	__real_stat_snapshot(label, phase);
	if (fault != NULL && strcmp(label, "begin") == 0 &&
	    (error = board_write(given.fault, fault)) != 0)
		fail("%s does not take '%s': %s", given.fault, fault, strerror(error));
}

/* The power is cut before the database is closed. */
void __wrap_record_phase_begin(struct record *record, const char *name)
{
	if (fault != NULL && strcmp(name, "close") == 0)
		_exit(EXIT_SUCCESS);
	__real_record_phase_begin(record, name);
}

/* Reads what the run printed about errors; keeps the first line. */
static void read_answer(int from, char *answer)
{
	size_t length = 0;
	char rest[256];
	ssize_t got;

	while ((got = length < MESSAGE_SIZE - 1
			      ? read(from, answer + length, MESSAGE_SIZE - 1 - length)
			      : read(from, rest, sizeof(rest))) > 0)
		if (length < MESSAGE_SIZE - 1)
			length += (size_t)got;
	answer[length] = '\0';
	answer[strcspn(answer, "\n")] = '\0';
}

/* Does the run in a child process, until it ends or fails. */
static void run_with_fault(struct trial *trial)
{
	int ends[2], status;
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0)
		fail("trial %s: no process: %s", trial->number, strerror(errno));
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		given.driver.announce = NULL;
		fault = trial->fault;
		run(&given.driver);
		_exit(EXIT_SUCCESS);
	}
	close(ends[1]);
	read_answer(ends[0], trial->answer);
	close(ends[0]);
	if (waitpid(child, &status, 0) != child)
		fail("trial %s: %s", trial->number, strerror(errno));
	trial->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void cut_power(struct trial *trial)
{
	char text[128] = "";
	FILE *file;
	int error;

	if ((error = board_write(given.power, "all")) != 0)
		fail("trial %s: %s: %s", trial->number, given.power, strerror(error));
	file = fopen(given.fault, "r");
	if (file == NULL || fgets(text, sizeof(text), file) == NULL ||
	    sscanf(text, "fired=%d seen=%" SCNu64 " sector=%" SCNu64, &trial->fired, &trial->seen,
		   &trial->sector) != 3)
		fail("trial %s: %s is '%s'", trial->number, given.fault, text);
	fclose(file);
	if (umount2(given.folder, 0) != 0)
		fail("trial %s: unmounting %s: %s", trial->number, given.folder, strerror(errno));
	if ((error = board_write(given.power, "0")) != 0)
		fail("trial %s: %s: %s", trial->number, given.power, strerror(error));
}

static void run_trial(char *line, FILE *output)
{
	struct trial trial = {.plan = plan_hash(line)};
	char of_run[MESSAGE_SIZE] = "";

	if (sscanf(line, "%23s %63s", trial.number, trial.fault) != 2)
		fail("%s: '%.*s' is not a trial", given.plan.path, (int)strcspn(line, "\n"), line);
	/* the process that ends would write it again */
	fflush(output);
	trial.begin_ns = clock_now();
	run_with_fault(&trial);
	trial.ended_ns = clock_now();
	trial.complaints = board_complaints(of_run);
	plan_count(given.record, &trial.begun, &trial.acknowledged);
	cut_power(&trial);
	/* what a device without power causes */
	board_complaints(NULL);
	trial.mount_error = board_mount(given.node, given.folder, given.type, given.mount_options);
	trial.mounted_ns = clock_now();
	if (trial.mount_error == 0)
		trial.signal = look(looked, &given.driver, NULL);
	trial.read_ns = clock_now();
	snprintf(trial.message, sizeof(trial.message), "%s", looked->message);
	trial.complaints += board_complaints(trial.message);
	if (trial.message[0] == '\0')
		snprintf(trial.message, sizeof(trial.message), "%s", of_run);
	trial.end_ns = clock_now();
	look_field(trial.answer);
	look_field(trial.message);
	fprintf(output, "%s,%016" PRIx64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,", trial.number,
		trial.plan, trial.acknowledged, trial.begun, *failed, trial.exit_status);
	fprintf(output, "%d,%" PRIu64 ",%" PRIu64 ",%d,%d,%d,%d,%d,%d,", trial.fired, trial.seen,
		trial.sector, trial.mount_error, looked->opened, looked->is_read, looked->is_whole,
		trial.signal, trial.complaints);
	fprintf(output, "%" PRId64 ",%016" PRIx64 ",", looked->rows.count, looked->rows.hash);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",",
		trial.begin_ns, trial.ended_ns, trial.mounted_ns, looked->opened_ns, trial.read_ns,
		trial.end_ns);
	fprintf(output, "%s,%s", trial.answer, trial.message);
	look_recovery(looked, output);
	putc('\n', output);
}

static void take(int argc, char **argv)
{
	enum { OWN = 8 };

	if (argc < OWN + 1)
		fail_usage("usage: fault PLAN OUTPUT DEVICE CONTROL FOLDER TYPE OPTIONS run "
			   "DRIVER-OPTIONS");
	given.plan = (struct plan){argv[1], argv[2], "", ""};
	given.node = argv[3];
	snprintf(given.fault, sizeof(given.fault), "%s/fault", argv[4]);
	snprintf(given.power, sizeof(given.power), "%s/power_cut", argv[4]);
	given.folder = argv[5];
	given.type = argv[6];
	given.mount_options = argv[7];
	options_parse(argc - OWN + 1, argv + OWN - 1, &given.driver);
	output_path(given.record, given.driver.output_dir, RECORD_FILE);
}

int fault_trials(int argc, char **argv)
{
	looked = look_prepare();
	failed = mmap(NULL, sizeof(*failed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (failed == MAP_FAILED)
		fail("no memory: %s", strerror(errno));
	take(argc, argv);
	plan_each(&given.plan, given.driver.announce,
		  "trial,plan,acknowledged,begun,failed,exit_status,fired,seen,sector,mount_error,"
		  "opened,is_read,is_whole,signal,complaints,rows,hash,begin_ns,shown_ns,"
		  "mounted_ns,opened_ns,read_ns,end_ns,answer,said,recovery,replayed",
		  run_trial);
	return EXIT_SUCCESS;
}

/* Looks at what power cuts left: it unmounts what a run wrote to, and for each trial of a plan
 * (docs/formats.md, raw/trials.txt) it has the device show the state, mounts it, opens the database
 * and reads all of it, as an app does that comes up again, unmounts, and has fsck look at every
 * Nth. No program but fsck is started. What fails is the trial's result, and the next one follows.
 *
 * usage: trials PLAN OUTPUT DEVICE CONTROL FOLDER TYPE OPTIONS FSCK EVERY run DRIVER-OPTIONS
 *   CONTROL   folder of the device's files `history` and `stats`; OPTIONS: of mount; FSCK: a
 * command, for which EVERY is N, 0 for never
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "board.h"
#include "clock.h"
#include "fail.h"
#include "options.h"
#include "output.h"
#include "recovered.h"

/* The device takes a page of text at a time. */
enum { WORDS_SIZE = 4000, NO_NUMBER = -1 };
/* Seconds of the board's after which a database that is being opened or read counts as hung. */
enum { HUNG_SECONDS = 300 };

static struct {
	const char *plan, *output, *node, *folder, *type, *mount_options, *fsck;
	long every;
	struct options driver;
	char history[256], stats[256];
} given;

/* What the process that opens the database leaves; in memory that both have. */
struct looked {
	bool opened, is_read, is_whole;
	uint64_t opened_ns;
	struct board_counts counts; /* when it was opened */
	struct rows rows;
	char said[SAID_SIZE];
};

struct trial {
	char number[24];
	uint64_t plan; /* hash of its line: which state it is of */
	uint64_t begin_ns, shown_ns, mounted_ns, read_ns, end_ns;
	int mount_error, unmount_error, ended, fsck, complaints;
	char said[SAID_SIZE];
};

/* FNV-1a */
static uint64_t hash_line(const char *line)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *line != '\0' && *line != '\n'; line++)
		hash = (hash ^ (unsigned char)*line) * UINT64_C(0x100000001b3);
	return hash;
}

/* "TRIAL SHOW WORD...": has the device show it. A device that refuses was given another run's plan.
 */
static void show(char *line, struct trial *trial)
{
	char words[WORDS_SIZE + 32], *rest, *word;
	size_t size;

	trial->plan = hash_line(line);
	word = strtok_r(line, " \n", &rest);
	snprintf(trial->number, sizeof(trial->number), "%s", word ? word : "");
	word = strtok_r(NULL, " \n", &rest);
	if (word == NULL)
		fail("%s: '%s' is no trial", given.plan, trial->number);
	snprintf(words, sizeof(words), "show %s", word);
	if ((errno = board_write(given.history, words)) != 0)
		fail("trial %s: %s does not take '%s': %s", trial->number, given.history, words,
		     strerror(errno));
	word = strtok_r(NULL, " \n", &rest);
	while (word != NULL) {
		size = (size_t)snprintf(words, sizeof(words), "keep");
		for (; word != NULL && size < WORDS_SIZE - 64; word = strtok_r(NULL, " \n", &rest))
			size += (size_t)snprintf(words + size, sizeof(words) - size, " %s", word);
		if ((errno = board_write(given.history, words)) != 0)
			fail("trial %s: %s does not take '%.40s...': %s", trial->number,
			     given.history, words, strerror(errno));
	}
}

/* For the host, which then knows in which trial a board died. */
static void say_number(const char *line)
{
	char text[48];

	snprintf(text, sizeof(text), "trials: %.*s", (int)strcspn(line, " \n"), line);
	output_say(given.driver.announce, text);
}

/* Opens the database and reads it; in a process of its own, as a broken one may end that. */
static void look(struct looked *looked)
{
	const struct workload *workload = workload_at((size_t)given.driver.workload);
	struct database *database;
	struct error error;

	database = engine_open(given.driver.database, &given.driver, workload, ENGINE_RUN, &error);
	looked->opened = database != NULL;
	looked->opened_ns = clock_now();
	board_counts(given.stats, &looked->counts);
	if (looked->opened) {
		looked->is_read = engine_rows(database, &looked->rows, &error);
		if (looked->is_read)
			looked->is_whole = engine_check(database, &error);
	}
	if (!looked->is_whole)
		snprintf(looked->said, sizeof(looked->said), "%.*s", SAID_SIZE - 1, error.text);
	/* closing writes, and is no part of what came up: _exit leaves that out */
}

static void look_apart(struct looked *looked, struct trial *trial)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		alarm(HUNG_SECONDS);
		look(looked);
		_exit(EXIT_SUCCESS);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		fail("trial %s: no process: %s", trial->number, strerror(errno));
	trial->ended = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	trial->read_ns = clock_now();
}

static void run_trial(char *line, FILE *output, struct looked *looked, long count)
{
	struct trial trial = {.fsck = NO_NUMBER};

	*looked = (struct looked){0};
	say_number(line);
	trial.begin_ns = clock_now();
	show(line, &trial);
	trial.shown_ns = clock_now();
	trial.mount_error = board_mount(given.node, given.folder, given.type, given.mount_options);
	trial.mounted_ns = trial.read_ns = clock_now();
	if (trial.mount_error == 0) {
		look_apart(looked, &trial);
		trial.unmount_error = umount2(given.folder, 0) == 0 ? 0 : errno;
	}
	if (given.every > 0 && count % given.every == 0 && trial.unmount_error == 0)
		trial.fsck = board_run(given.fsck);
	snprintf(trial.said, sizeof(trial.said), "%s", looked->said);
	trial.complaints = board_complaints(trial.said);
	trial.end_ns = clock_now();
	/* a field of a CSV file */
	for (char *c = trial.said; *c != '\0'; c++)
		if (*c == '"' || *c == ',' || (unsigned char)*c < ' ' || (unsigned char)*c > '~')
			*c = '?';
	fprintf(output, "%s,%016" PRIx64 ",%d,%d,%d,%d,%d,%d,%d,%d,", trial.number, trial.plan,
		trial.mount_error, looked->opened, looked->is_read, looked->is_whole, trial.ended,
		trial.unmount_error, trial.fsck, trial.complaints);
	fprintf(output, "%" PRIi64 ",%016" PRIx64 ",", looked->rows.count, looked->rows.hash);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", looked->counts.reads,
		looked->counts.writes, looked->counts.flushes);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", trial.begin_ns, trial.shown_ns,
		trial.mounted_ns);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s\n", looked->opened_ns,
		trial.read_ns, trial.end_ns, trial.said);
	/* what comes next may end the board */
	if (fflush(output) != 0)
		fail("%s: %s", given.output, strerror(errno));
	if (trial.unmount_error != 0)
		fail("trial %s: unmounting %s: %s", trial.number, given.folder,
		     strerror(trial.unmount_error));
}

static void take(int argc, char **argv)
{
	enum { OWN = 10 };
	char *end;

	if (argc < OWN + 1)
		fail_usage("usage: PLAN OUTPUT DEVICE CONTROL FOLDER TYPE OPTIONS FSCK EVERY run "
			   "DRIVER-OPTIONS");
	given.plan = argv[1];
	given.output = argv[2];
	given.node = argv[3];
	snprintf(given.history, sizeof(given.history), "%s/history", argv[4]);
	snprintf(given.stats, sizeof(given.stats), "%s/stats", argv[4]);
	given.folder = argv[5];
	given.type = argv[6];
	given.mount_options = argv[7];
	given.fsck = argv[8];
	given.every = strtol(argv[9], &end, 10);
	if (*end != '\0' || given.every < 0)
		fail_usage("EVERY is a whole number, not '%s'", argv[9]);
	options_parse(argc - OWN + 1, argv + OWN - 1, &given.driver);
}

int main(int argc, char **argv)
{
	struct looked *looked;
	char *line = NULL;
	size_t size = 0;
	FILE *plan, *output;

	take(argc, argv);
	looked = mmap(NULL, sizeof(*looked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	plan = fopen(given.plan, "r");
	output = fopen(given.output, "w");
	if (looked == MAP_FAILED || plan == NULL || output == NULL)
		fail("%s, %s: %s", given.plan, given.output, strerror(errno));
	if (umount2(given.folder, 0) != 0)
		fail("unmounting %s: %s", given.folder, strerror(errno));
	clock_wait_whole_second();
	board_complaints(NULL);
	fputs("trial,plan,mount_error,opened,is_read,is_whole,signal,unmount_error,fsck,complaints,"
	      "rows,"
	      "hash,"
	      "reads,writes,flushes,begin_ns,shown_ns,mounted_ns,opened_ns,read_ns,end_ns,said\n",
	      output);
	for (long count = 0; getline(&line, &size, plan) > 0; count++)
		run_trial(line, output, looked, count);
	free(line);
	fclose(plan);
	if (fclose(output) != 0)
		fail("%s: %s", given.output, strerror(errno));
	return EXIT_SUCCESS;
}

/* The program `trials`: checks what simulated power cuts left of a run (`cut`), and is the entry of
 * the other kinds of crash trials (`kill`, `fault`) and of `look`. `cut` unmounts the run's
 * filesystem and, for each trial of a plan (docs/reference/formats.md, raw/trials.txt), has the
 * device show the state, mounts it, opens the database, reads all of it as an app does after a
 * restart, unmounts, and runs fsck for every Nth. Only fsck is another program. A failure is the
 * trial's result, and the next trial follows.
 *
 * usage: trials cut PLAN OUTPUT FILES SAMPLED DEVICE CONTROL FOLDER TYPE OPTIONS FSCK EVERY run
 *          DRIVER-OPTIONS
 *   FILES     folder for the database's files of the trials that are SAMPLED (plan.h)
 *   CONTROL   folder of the device's files `history` and `stats`; OPTIONS: of mount; FSCK: a
 *             command, run for every Nth trial (EVERY; 0: never)
 *
 * usage: trials kill PLAN OUTPUT FILES SAMPLED run DRIVER-OPTIONS
 *   trials of another kind: kill.h
 *
 * usage: trials fault PLAN OUTPUT DEVICE CONTROL FOLDER TYPE OPTIONS run DRIVER-OPTIONS
 *   trials on a device with a fault: kill.h
 *
 * usage: trials look run DRIVER-OPTIONS
 *   opens and reads one database, and prints the result
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>

#include "board.h"
#include "bytes.h"
#include "clock.h"
#include "fail.h"
#include "kill.h"
#include "look.h"
#include "options.h"
#include "plan.h"
#include "pmem_lines.h"

/* The device accepts a page of text at a time. */
enum { WORDS_SIZE = 4000, NO_NUMBER = -1 };

static struct {
	struct plan plan;
	const char *node, *folder, *type, *mount_options, *fsck;
	long every;
	struct options driver;
	char history[256], stats[256];
} given;
static struct looked *looked;
static long tried;

struct trial {
	char number[24];
	uint64_t plan; /* hash of its line, which identifies its state */
	uint64_t begin_ns, shown_ns, mounted_ns, read_ns, end_ns;
	int mount_error, unmount_error, signal, fsck, complaints;
	char message[MESSAGE_SIZE];
};

/* "TRIAL SHOW WORD...": has the device show the state, and restores persistent memory. An error of
 * the device means that the plan is another run's. */
static void show(char *line, struct trial *trial)
{
	char words[WORDS_SIZE + 32], *rest, *word;
	size_t size;

	trial->plan = plan_hash(line);
	word = strtok_r(line, " \n", &rest);
	snprintf(trial->number, sizeof(trial->number), "%s", word ? word : "");
	word = strtok_r(NULL, " \n", &rest);
	if (word == NULL)
		fail("%s: '%s' is not a trial", given.plan.path, trial->number);
	snprintf(words, sizeof(words), "show %s", word);
	if ((errno = board_write(given.history, words)) != 0)
		fail("trial %s: %s does not take '%s': %s", trial->number, given.history, words,
		     strerror(errno));
	word = strtok_r(NULL, " \n", &rest);
	while (word != NULL && !lines_is_word(word)) {
		size = (size_t)snprintf(words, sizeof(words), "keep");
		for (; word != NULL && !lines_is_word(word) && size < WORDS_SIZE - 64;
		     word = strtok_r(NULL, " \n", &rest))
			size += (size_t)snprintf(words + size, sizeof(words) - size, " %s", word);
		if ((errno = board_write(given.history, words)) != 0)
			fail("trial %s: %s does not take '%.40s...': %s", trial->number,
			     given.history, words, strerror(errno));
	}
	lines_begin();
	for (; word != NULL; word = strtok_r(NULL, " \n", &rest))
		lines_word(trial->number, word);
	lines_show(trial->number);
}

/* Writes the fields for the files' bytes; empty where unknown. */
static void put_bytes(FILE *output, const struct bytes *bytes)
{
	if (bytes->known)
		fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", bytes->zero, bytes->stale,
			bytes->ns);
	else
		fputs(",,,", output);
}

static void unmount(const char *number)
{
	if (umount2(given.folder, 0) != 0)
		fail("trial %s: unmounting %s: %s", number, given.folder, strerror(errno));
}

/* Keeps a trial's files. In a separate mount, as reading caches them and the trial must read from
 * the device. */
static void sample(const char *line)
{
	char *words = strdup(line);
	struct trial trial;

	if (words == NULL)
		fail("no memory for a line of %s", given.plan.path);
	show(words, &trial);
	free(words);
	if (board_mount(given.node, given.folder, given.type, given.mount_options) == 0) {
		plan_keep(&given.plan, line, &given.driver);
		unmount(trial.number);
	}
	board_complaints(NULL);
}

static void run_trial(char *line, FILE *output)
{
	struct trial trial = {.fsck = NO_NUMBER};
	struct bytes bytes = {0};

	*looked = (struct looked){0};
	if (plan_samples(&given.plan, line))
		sample(line);
	trial.begin_ns = clock_now();
	show(line, &trial);
	trial.shown_ns = clock_now();
	trial.mount_error = board_mount(given.node, given.folder, given.type, given.mount_options);
	trial.mounted_ns = trial.read_ns = clock_now();
	if (trial.mount_error == 0) {
		bytes_look(&bytes, given.stats);
		trial.signal = look(looked, &given.driver, given.stats);
		/* missing if a signal ended the process */
		if (looked->counts.reads >= bytes.reads)
			looked->counts.reads -= bytes.reads;
		trial.read_ns = clock_now();
		trial.unmount_error = umount2(given.folder, 0) == 0 ? 0 : errno;
	}
	if (given.every > 0 && tried++ % given.every == 0 && trial.unmount_error == 0)
		trial.fsck = board_run(given.fsck);
	snprintf(trial.message, sizeof(trial.message), "%s", looked->message);
	trial.complaints = board_complaints(trial.message);
	trial.end_ns = clock_now();
	look_field(trial.message);
	fprintf(output, "%s,%016" PRIx64 ",%d,%d,%d,%d,%d,%d,%d,%d,", trial.number, trial.plan,
		trial.mount_error, looked->opened, looked->is_read, looked->is_whole, trial.signal,
		trial.unmount_error, trial.fsck, trial.complaints);
	fprintf(output, "%" PRIi64 ",%016" PRIx64 ",", looked->rows.count, looked->rows.hash);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", looked->counts.reads,
		looked->counts.writes, looked->counts.flushes);
	put_bytes(output, &bytes);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", trial.begin_ns, trial.shown_ns,
		trial.mounted_ns);
	fprintf(output, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s", looked->opened_ns, trial.read_ns,
		trial.end_ns, trial.message);
	look_recovery(looked, output);
	putc('\n', output);
	if (trial.unmount_error != 0)
		fail("trial %s: unmounting %s: %s", trial.number, given.folder,
		     strerror(trial.unmount_error));
}

static void take(int argc, char **argv)
{
	enum { OWN = 12 };
	char *end;

	if (argc < OWN + 1)
		fail_usage("usage: cut PLAN OUTPUT FILES SAMPLED DEVICE CONTROL FOLDER TYPE "
			   "OPTIONS FSCK EVERY run DRIVER-OPTIONS");
	plan_take(&given.plan, argv + 1);
	given.node = argv[5];
	snprintf(given.history, sizeof(given.history), "%s/history", argv[6]);
	snprintf(given.stats, sizeof(given.stats), "%s/stats", argv[6]);
	given.folder = argv[7];
	given.type = argv[8];
	given.mount_options = argv[9];
	given.fsck = argv[10];
	given.every = strtol(argv[11], &end, 10);
	if (*end != '\0' || given.every < 0)
		fail_usage("EVERY is a whole number, not '%s'", argv[11]);
	options_parse(argc - OWN + 1, argv + OWN - 1, &given.driver);
}

static int cut_trials(int argc, char **argv)
{
	looked = look_prepare();
	take(argc, argv);
	if (umount2(given.folder, 0) != 0)
		fail("unmounting %s: %s", given.folder, strerror(errno));
	bytes_prepare(given.driver.written);
	lines_prepare(given.driver.written, given.driver.persistent);
	plan_each(&given.plan, given.driver.announce,
		  "trial,plan,mount_error,opened,is_read,is_whole,signal,unmount_error,fsck,"
		  "complaints,rows,hash,reads,writes,flushes,zero,stale,looked_ns,begin_ns,"
		  "shown_ns,mounted_ns,opened_ns,read_ns,end_ns,said,recovery,replayed",
		  run_trial);
	/* for looking at a board after a single trial (playbooks/board/run-cell.sh, hold) */
	lines_show("of the end");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "cut") == 0)
		return cut_trials(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "kill") == 0)
		return kill_trials(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "fault") == 0)
		return fault_trials(argc - 1, argv + 1);
	if (argc > 2 && strcmp(argv[1], "look") == 0)
		return look_at(argc - 1, argv + 1);
	fail_usage("usage: trials cut|kill|fault|look ...");
}

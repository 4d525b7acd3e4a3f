/* Runs a shell command as the load, between two idle readings of the device's counters, and writes
 * the same files as a driver (docs/reference/formats.md), with transactions if an engine's preload
 * recorded them. The command runs in a folder of the watched filesystem. */
#define _GNU_SOURCE /* mlockall, and what the parts' headers need */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "device_stat.h"
#include "fail.h"
#include "instruction.h"
#include "json.h"
#include "log.h"
#include "output.h"
#include "printed.h"
#include "transactions.h"

struct options {
	const char *folder, *output_dir, *device_stat, *announce, *preload, *command;
};

struct phase {
	const char *name;
	uint64_t begin_ns, end_ns, transactions;
};

static const char usage[] = "usage: command --folder DIR --output-dir DIR --device-stat FILE "
			    "[--announce FILE] [--preload LIBRARIES] -- COMMAND";

static void parse(int argc, char **argv, struct options *options)
{
	const struct {
		const char *name;
		const char **value;
	} known[] = {{"--folder", &options->folder},
		     {"--output-dir", &options->output_dir},
		     {"--device-stat", &options->device_stat},
		     {"--announce", &options->announce},
		     {"--preload", &options->preload}};
	int at = 1;

	for (; at + 1 < argc && strcmp(argv[at], "--") != 0; at += 2) {
		const char **value = NULL;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (strcmp(argv[at], known[i].name) == 0)
				value = known[i].value;
		if (value == NULL)
			fail_usage("%s: no such option; %s", argv[at], usage);
		*value = argv[at + 1];
	}
	if (at + 2 != argc || !options->folder || !options->output_dir || !options->device_stat)
		fail_usage("%s", usage);
	options->command = argv[at + 1];
}

/* Returns the command's status, after all processes that it started have ended: they would
 * otherwise write into the next phase. */
static int run_command(const struct options *options, struct printed printed[2])
{
	int status = 0, each;
	pid_t child, ended;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		fail("prctl: %s", strerror(errno));
	child = fork();
	if (child < 0)
		fail("fork: %s", strerror(errno));
	if (child == 0) {
		int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

		if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
		    dup2(printed[0].write, STDOUT_FILENO) < 0 ||
		    dup2(printed[1].write, STDERR_FILENO) < 0)
			_exit(126);
		if (options->preload && setenv("LD_PRELOAD", options->preload, 1) != 0)
			_exit(126);
		execl("/bin/sh", "sh", "-c", options->command, (char *)NULL);
		_exit(127);
	}
	printed_collect(printed);
	while ((ended = wait(&each)) > 0 || errno == EINTR)
		if (ended == child)
			status = each;
	return status;
}

static void write_phases(const struct options *options, const struct phase *phases, size_t count)
{
	FILE *file = output_open(options->output_dir, "phases.csv");

	fputs("phase,begin_ns,end_ns,transactions\n", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", phases[i].name,
			phases[i].begin_ns, phases[i].end_ns, phases[i].transactions);
	output_commit(file);
}

static void write_config(const struct options *options, uint64_t monotonic_ns, uint64_t realtime_ns,
			 int status, const struct printed printed[2],
			 const struct transaction_log *log)
{
	struct json json = {.file = output_open(options->output_dir, "config.json")};

	json_begin(&json, NULL, '{');
	json_begin(&json, "command", '{');
	json_text(&json, "line", options->command);
	json_text(&json, "folder", options->folder);
	if (WIFSIGNALED(status))
		json_number(&json, "signal", WTERMSIG(status));
	else
		json_number(&json, "exit_status", WEXITSTATUS(status));
	json_number(&json, "stdout_bytes", (int64_t)printed[0].bytes);
	json_number(&json, "stderr_bytes", (int64_t)printed[1].bytes);
	json_end(&json, '}');
	if (log) {
		json_begin(&json, "transactions", '{');
		json_number(&json, "processes", (int64_t)log->processes);
		json_number(&json, "ended", (int64_t)log->next);
		json_number(&json, "unseen_pages", (int64_t)log->unseen);
		json_number(&json, "unfollowed", (int64_t)log->unfollowed);
		json_number(&json, "busy", (int64_t)log->busy);
		json_number(&json, "sleeps", (int64_t)log->sleeps);
		json_number(&json, "slept_ns", (int64_t)log->slept_ns);
		log_attached(log, &json, "attached");
		json_end(&json, '}');
	}
	instruction_write(&json, monotonic_ns, realtime_ns);
	json_text(&json, "status", "ok");
	json_end(&json, '}');
	output_commit(json.file);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct phase command = {.name = "command"}, drain = {.name = "drain"};
	struct printed printed[2];
	struct transaction_log *log;
	uint64_t monotonic_ns, realtime_ns;
	int status;

	parse(argc, argv, &options);
	output_prepare(options.output_dir);
	log = options.preload ? log_create(options.output_dir) : NULL;
	printed[0] = printed_begin(options.output_dir, "stdout");
	printed[1] = printed_begin(options.output_dir, "stderr");
	stat_open(options.device_stat);
	if (chdir(options.folder) != 0)
		fail("%s: %s", options.folder, strerror(errno));
	(void)mlockall(MCL_CURRENT);
	stat_settle(options.folder);

	stat_snapshot("begin", NULL);
	output_say(options.announce, "driver: the timed region begins");
	monotonic_ns = clock_now();
	realtime_ns = clock_read(CLOCK_REALTIME);
	clock_wait_whole_second();
	command.begin_ns = clock_now();
	status = run_command(&options, printed);
	command.end_ns = clock_now();
	stat_snapshot("end-", command.name);
	output_say(options.announce, "driver: the timed region ends");
	drain.begin_ns = clock_now();
	stat_settle(options.folder);
	drain.end_ns = clock_now();
	stat_snapshot("end", NULL);

	printf("command: %s %d after %.6f s\n", WIFSIGNALED(status) ? "signal" : "exit status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	       (double)(command.end_ns - command.begin_ns) / (double)NANOSECONDS_PER_SECOND);
	stat_write(options.output_dir);
	if (log) {
		command.transactions = log_count(log);
		log_write(options.output_dir, log);
	}
	write_phases(&options, (struct phase[]){command, drain}, 2);
	write_config(&options, monotonic_ns, realtime_ns, status, printed, log);
	if (fflush(stdout) != 0 || ferror(stdout))
		fail("writing to stdout failed");
	return EXIT_SUCCESS;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flash model on the host: images/devices/flashsim/model.c behind a text interface.
 *
 * usage: model sectors=N NAME=VALUE... < commands
 * A line is a command; its answer is the time at which it is done.
 *   r NOW SECTOR SECTORS   read          d NOW SECTOR SECTORS   discard
 *   w NOW SECTOR SECTORS   write         F NOW                  flush
 *   f NOW SECTOR SECTORS   FUA write     cut, reset: no answer
 * NOW is a time, or +GAP after the last command was done. At the end come the counters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static struct flash_parameters given;
static u64 sectors;
static struct flash_model *model;

static int set(const char *argument)
{
	const char *equals = strchr(argument, '=');
	size_t length = equals ? (size_t)(equals - argument) : 0;
	u64 value = equals ? strtoull(equals + 1, NULL, 10) : 0;

	if (length == 7 && !memcmp(argument, "sectors", 7)) {
		sectors = value;
		return 0;
	}
#define P(name, live, least, most)                                         \
	if (length == strlen(#name) && !memcmp(argument, #name, length)) { \
		given.name = value;                                        \
		return value + 1 < (least) + 1 || value > (most);          \
	}
	FLASH_PARAMETERS(P)
#undef P
	return 1;
}

static void print_counters(void)
{
#define C(name) printf("time_" #name "_ns=%" PRIu64 "\n", model->stats.time[CAUSE_##name]);
	FLASH_CAUSES(C)
#undef C
#define C(name) printf(#name "=%" PRIu64 "\n", model->stats.name);
	FLASH_COUNTS(C)
#undef C
}

int main(int argc, char **argv)
{
	char line[200], name[16], when[32];
	u64 now, last = 0, a, b;
	const char *problem;
	int i;

	for (i = 1; i < argc; i++) {
		if (set(argv[i])) {
			fprintf(stderr, "refused: %s\n", argv[i]);
			return 2;
		}
	}
	problem = flash_check(&given, sectors);
	if (problem) {
		fprintf(stderr, "refused: %s\n", problem);
		return 2;
	}
	model = calloc(1, flash_size(&given, sectors));
	if (!model)
		return 1;
	flash_model_init(model, &given, sectors);
	while (fgets(line, sizeof(line), stdin)) {
		a = b = 0;
		if (sscanf(line, "%15s %31s %" SCNu64 " %" SCNu64, name, when, &a, &b) < 1)
			continue;
		if (!strcmp(name, "cut") || !strcmp(name, "reset")) {
			*name == 'c' ? flash_power_cut(model) : flash_reset(model);
			continue;
		}
		now = strtoull(when + (*when == '+'), NULL, 10) + (*when == '+' ? last : 0);
		switch (*name) {
		case 'r':
			last = flash_read(model, now, a, b);
			break;
		case 'w':
		case 'f':
			last = flash_write(model, now, a, b, *name == 'f');
			break;
		case 'F':
			last = flash_flush(model, now);
			break;
		case 'd':
			last = flash_discard(model, now, a, b);
			break;
		default:
			return 2;
		}
		printf("%" PRIu64 "\n", last);
	}
	print_counters();
	printf("free_blocks=%" PRIu32 "\n", model->map.nr_free);
	free(model);
	return 0;
}

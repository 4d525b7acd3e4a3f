/* Opens, fills, crashes, recovers and closes databases with a log, for scenes (scene.h). */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
struct ssl_options options;
uint64_t acknowledged;
char log_name[16], other_log[16];
char **scene_words;

void check(bool good, const char *what)
{
	if (good)
		return;
	printf("not so: %s\n", what);
	exit(1);
}

struct ssl *scene_open(const char *name)
{
	struct ssl *ssl;
	struct error error;

	check(ssl_open(name, flags, &options, &ssl, &error), error.text);
	return ssl;
}

void scene_run(struct ssl *ssl, const char *sql)
{
	check(ssl_exec(ssl, sql) == SQLITE_OK, sql);
}

void scene_close(struct ssl *ssl)
{
	struct error error;

	check(ssl_close(ssl, &error), "closed");
}

void scene_crash(struct ssl *ssl, enum kept kept)
{
	struct error error;

	disk_cut_now();
	ssl_close(ssl, &error);
	disk_power(1, kept);
}

void open_target(struct target *ours, bool fresh)
{
	struct error error;

	ours->ssl = scene_open("a.db");
	ours->db = ssl_db(ours->ssl);
	if (fresh)
		check(load_create(ours) == SQLITE_OK && ssl_checkpoint(ours->ssl, &error), "made");
}

void make_live(const char *name)
{
	struct target ours = {.ssl = scene_open(name)};
	struct error error;

	ours.db = ssl_db(ours.ssl);
	check(load_create(&ours) == SQLITE_OK, "created");
	check(ssl_checkpoint(ours.ssl, &error), "checkpoint");
	for (int64_t i = 0; i < 12; i++)
		check(load_transaction(&ours, MIX_PLAIN, 1, i) == SQLITE_OK, "transaction");
	acknowledged = load_hash(ours.db, false);
	scene_crash(ours.ssl, KEPT_NONE);
}

void must_refuse(const char *name)
{
	struct ssl *ssl;
	struct error error;

	check(!ssl_open(name, flags, &options, &ssl, &error), "refused");
	check(strchr(error.text, '\n') == NULL, "one line");
	puts(error.text);
}

void must_recover(const char *name)
{
	struct ssl *ssl = scene_open(name);

	check(ssl_stats(ssl).replayed > 0, "replayed");
	check(load_hash(ssl_db(ssl), false) == acknowledged, "all that was acknowledged is there");
	scene_close(ssl);
}

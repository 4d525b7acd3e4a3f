/* The scene that only a page log has (engine ppl): sectors fill, the log fills, the database
 * shrinks. */
#include "scene.h"

static int64_t checkpoints_of(struct ssl *ssl, enum ssl_reason reason)
{
	return ssl_stats(ssl).checkpoints[reason];
}

/* Sectors that fill, records that are larger than one, a log that fills, and a database that
 * shrinks. */
static void sectors(void)
{
	struct ssl *ssl;

	options.log_size = 8192;
	ssl = scene_open("a.db");
	scene_run(ssl, "CREATE TABLE t(x); CREATE TABLE u(x)");
	for (int i = 0; i < 40; i++)
		scene_run(ssl, "INSERT INTO t VALUES(zeroblob(10))");
	check(checkpoints_of(ssl, SSL_SECTOR_FULL) > 0, "merged");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "no record is larger than a sector");
	scene_run(ssl, "INSERT INTO u VALUES(zeroblob(900))");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "zeros are none");
	scene_run(ssl, "INSERT INTO u VALUES(randomblob(900))");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 1, "merged");
	check(checkpoints_of(ssl, SSL_LOG_FULL) == 0, "the log has room");
	for (int i = 0; i < 40; i++)
		scene_run(ssl, "CREATE TABLE IF NOT EXISTS more(x);"
			       "INSERT INTO more VALUES(randomblob(3000))");
	scene_run(ssl, "UPDATE more SET x=zeroblob(2999)||'a' WHERE rowid%2");
	scene_run(ssl, "DELETE FROM more; VACUUM");
	check(checkpoints_of(ssl, SSL_SHRUNK) == 1, "a checkpoint");
	scene_close(ssl);
	check(!disk_there("a.db-ppl") && !disk_there("a.db-merge"), "nothing is left beside it");
}

const struct scene own_scenes[] = {{.name = "sectors", .play = sectors}, {.name = NULL}};

/* The scene of a page log alone: its sectors. */
#include "disk.h"
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
	struct error error;

	options.log_size = 8192;
	check(ssl_open("a.db", flags, &options, &ssl, &error), "opened");
	check(ssl_exec(ssl, "CREATE TABLE t(x); CREATE TABLE u(x)") == SQLITE_OK, "made");
	for (int i = 0; i < 40; i++)
		check(ssl_exec(ssl, "INSERT INTO t VALUES(zeroblob(10))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_FULL) > 0, "merged");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "no record is larger than a sector");
	check(ssl_exec(ssl, "INSERT INTO u VALUES(zeroblob(900))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 0, "zeros are none");
	check(ssl_exec(ssl, "INSERT INTO u VALUES(randomblob(900))") == SQLITE_OK, "inserted");
	check(checkpoints_of(ssl, SSL_SECTOR_SMALL) == 1, "merged");
	check(checkpoints_of(ssl, SSL_LOG_FULL) == 0, "the log has room");
	for (int i = 0; i < 40; i++)
		check(ssl_exec(ssl, "CREATE TABLE IF NOT EXISTS more(x);"
				    "INSERT INTO more VALUES(randomblob(3000))") == SQLITE_OK,
		      "inserted");
	check(ssl_exec(ssl, "UPDATE more SET x=zeroblob(2999)||'a' WHERE rowid%2") == SQLITE_OK,
	      "updated");
	check(ssl_exec(ssl, "DELETE FROM more; VACUUM") == SQLITE_OK, "shrunk");
	check(checkpoints_of(ssl, SSL_SHRUNK) == 1, "a checkpoint");
	check(ssl_close(ssl, &error), "closed");
	check(!disk_there("a.db-ppl") && !disk_there("a.db-merge"), "nothing is left beside it");
}

const struct scene own_scenes[] = {{"sectors", sectors}, {NULL, NULL}};

/* A process that is killed leaves what it wrote and did not sync to the next one, which must not
 * rely on it: power may be cut afterwards. A short life of a database is ended at each of its
 * calls, and again, by a power cut, at some of those of the next one. Prints how many of these
 * there were, and the first that lost something on stderr. */
#include <stdio.h>
#include <stdlib.h>

#include "disk.h"
#include "ssl.h"

enum { ROWS = 3, LATER = 48, LATER_STEP = 3, MOST_CALLS = 10000 };

static struct ssl_options options;
static int64_t acknowledged;

static struct ssl *open_it(void)
{
	struct ssl *ssl;
	struct error error;

	if (ssl_open("a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &options, &ssl, &error))
		return ssl;
	if (!disk_is_cut())
		fprintf(stderr, "%s\n", error.text);
	return NULL;
}

static void insert(struct ssl *ssl, int64_t rows)
{
	for (int64_t i = 0; i < rows; i++)
		acknowledged += ssl_exec(ssl, "INSERT INTO t VALUES(1)") == SQLITE_OK;
}

static void end(struct ssl *ssl)
{
	struct error error;

	disk_cut_now();
	if (ssl != NULL)
		ssl_close(ssl, &error);
}

/* All that it does, or until it ends. */
static void live(void)
{
	struct error error;
	struct ssl *ssl = open_it();

	if (ssl != NULL && ssl_exec(ssl, "CREATE TABLE t(x)") == SQLITE_OK) {
		insert(ssl, ROWS);
		ssl_checkpoint(ssl, &error);
		insert(ssl, ROWS);
	}
	end(ssl);
}

static int64_t rows(struct ssl *ssl)
{
	sqlite3_stmt *row;
	int64_t found = 0;

	disk_pause(true);
	if (sqlite3_prepare_v2(ssl_db(ssl), "SELECT count(*) FROM t", -1, &row, NULL) ==
		    SQLITE_OK &&
	    sqlite3_step(row) == SQLITE_ROW)
		found = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	disk_pause(false);
	return found;
}

/* False: something is lost, or it does not open. */
static bool good(int64_t killed, int64_t cut)
{
	struct ssl *ssl;
	bool is;

	disk_empty();
	acknowledged = 0;
	disk_cut_after(killed);
	live();
	disk_killed();
	disk_cut_after(cut);
	ssl = open_it();
	/* without a cut in it what follows is acknowledged, too */
	if (ssl != NULL && rows(ssl) > 0) {
		acknowledged = rows(ssl);
		insert(ssl, 1);
	}
	if (ssl == NULL && !disk_is_cut())
		return false;
	end(ssl);
	disk_power(1, KEPT_NONE);
	ssl = open_it();
	is = ssl != NULL && rows(ssl) >= acknowledged;
	end(ssl);
	return is;
}

int main(void)
{
	int64_t lives = 0, calls;

	ssl_defaults(&options);
	options.log_size = 4096;
	disk_register();
	disk_empty();
	live();
	calls = disk_calls();
	for (int64_t killed = 1; killed <= calls && calls < MOST_CALLS; killed++)
		for (int64_t cut = 0; cut <= LATER; cut += LATER_STEP, lives++)
			if (!good(killed, cut)) {
				fprintf(stderr, "killed at %lld, cut at %lld: not all is there\n",
					(long long)killed, (long long)cut);
				return 1;
			}
	printf("{\"calls\": %lld, \"lives\": %lld}\n", (long long)calls, (long long)lives);
	return 0;
}

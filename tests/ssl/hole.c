/* Of a log that is not synced at each commit any records may come to the medium, and others not:
 * each set of those of a few transactions is tried, all of one size. What is there must be the
 * transactions before the first that lacks its record, and after another one and another power cut
 * that one as well, whether the log is synced then or not.
 *
 *   hole [epoch]    with `epoch` a log that lost its first record goes on in its epoch
 *
 * Prints how many sets there were, and how many went wrong; these also on stderr. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disk.h"
#include "state.h"

enum { RECORDS = 4, SETS = 1 << RECORDS, LENGTH = 4 };

static struct ssl_options options;
static int64_t begins[RECORDS];

static struct ssl *open_it(void)
{
	struct ssl *ssl;
	struct error error;

	if (ssl_open("a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &options, &ssl, &error))
		return ssl;
	fprintf(stderr, "%s\n", error.text);
	exit(1);
}

static void insert(struct ssl *ssl, int value)
{
	char sql[40];

	snprintf(sql, sizeof(sql), "INSERT INTO t VALUES(%d)", value);
	if (ssl_exec(ssl, sql) != SQLITE_OK)
		exit(1);
}

static void cut(struct ssl *ssl)
{
	struct error error;

	disk_cut_now();
	ssl_close(ssl, &error);
	disk_power(1, KEPT_ALL);
}

/* What is in the table, a digit each. */
static void rows(struct ssl *ssl, char *text)
{
	sqlite3_stmt *row;

	if (sqlite3_prepare_v2(ssl_db(ssl), "SELECT x FROM t ORDER BY rowid", -1, &row, NULL) !=
	    SQLITE_OK)
		exit(1);
	for (; sqlite3_step(row) == SQLITE_ROW; text++)
		*text = (char)('0' + sqlite3_column_int(row, 0));
	*text = '\0';
	sqlite3_finalize(row);
}

static void live(void)
{
	struct error error;
	struct ssl *ssl = open_it();

	if (ssl_exec(ssl, "CREATE TABLE t(x)") != SQLITE_OK || !ssl_checkpoint(ssl, &error))
		exit(1);
	for (int i = 0; i < RECORDS; i++) {
		begins[i] = ssl->log.tail;
		insert(ssl, i + 1);
	}
	cut(ssl);
}

/* False: what is there is not what `set` leaves. */
static bool good(int set, enum ssl_synchronous then)
{
	char first[2 * RECORDS] = "", second[2 * RECORDS] = "", wanted[2 * RECORDS] = "1234";
	int whole = 0;
	struct ssl *ssl;
	bool is;

	disk_empty();
	options.synchronous = SSL_NORMAL;
	live();
	for (int i = 0; i < RECORDS; i++)
		for (int at = 0; at < LENGTH && (set >> i & 1) == 0; at++)
			disk_edit("a.db-sla", begins[i] + at, 0);
	while ((set >> whole & 1) != 0)
		whole++;
	wanted[whole] = '\0';
	options.synchronous = then;
	ssl = open_it();
	rows(ssl, first);
	is = strcmp(first, wanted) == 0;
	insert(ssl, 9);
	cut(ssl);
	strcat(wanted, "9");
	ssl = open_it();
	rows(ssl, second);
	cut(ssl);
	is &= strcmp(second, wanted) == 0;
	if (!is)
		fprintf(stderr, "set %d: there were %s, then %s\n", set, first, second);
	return is;
}

int main(int count, char **words)
{
	int bad = 0;

	ssl_defaults(&options);
	options.log_size = 4096;
	if (count > 1 && strcmp(words[1], "epoch") == 0)
		options.left_out = SSL_EPOCH_KEPT;
	disk_register();
	for (int set = 0; set < SETS; set++)
		bad += !good(set, SSL_NORMAL) + !good(set, SSL_FULL);
	printf("{\"sets\": %d, \"bad\": %d}\n", 2 * SETS, bad);
	return 0;
}

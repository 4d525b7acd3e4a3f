/* Transactions on a real file, to be killed in: `kill run MEDIUM PATH SEED` prints the number of
 * each that is acknowledged, until it is killed; `kill verify MEDIUM PATH SEED COUNT` recovers, and
 * compares with COUNT transactions, or one more, by SQLite alone. Prints what the recovery found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

static void fail(const char *what)
{
	fprintf(stderr, "kill: %s\n", what);
	exit(1);
}

static void run(struct target *ours, uint64_t seed)
{
	if (load_create(ours) != SQLITE_OK)
		fail("the schema was not made");
	puts("0");
	fflush(stdout);
	for (int64_t number = 0;; number++) {
		if (load_transaction(ours, MIX_ALL, seed, number) != SQLITE_OK)
			fail(sqlite3_errmsg(ours->db));
		printf("%lld\n", (long long)number + 1);
		fflush(stdout);
	}
}

static void verify(struct target *ours, uint64_t seed, int64_t count)
{
	struct target plain = {0};
	struct ssl_stats stats = ssl_stats(ours->ssl);
	uint64_t found = load_hash(ours->db, true);
	bool same;

	sqlite3_open(":memory:", &plain.db);
	load_create(&plain);
	for (int64_t number = 0; number < count; number++)
		load_transaction(&plain, MIX_ALL, seed, number);
	same = found == load_hash(plain.db, true);
	load_transaction(&plain, MIX_ALL, seed, count);
	load_end_reading(&plain);
	same |= found == load_hash(plain.db, true);
	sqlite3_close(plain.db);
	if (!same || !load_intact(ours->db))
		fail("what is there is neither");
	printf("%s, %lld replayed, %lld lines\n", ssl_cases[stats.found], (long long)stats.replayed,
	       (long long)stats.log_lines);
}

int main(int count, char **words)
{
	/* shared: as pcm, in memory of any kind, which a process leaves that is killed; normal: of
	 * a file that no commit syncs */
	static const char *const media[] = {"fdatasync", "msync", "pcm", "shared"};
	struct ssl_options options;
	struct target ours;
	struct error error;

	if (count < 5)
		return 2;
	ssl_defaults(&options);
	options.log_size = 65536;
	for (int i = 0; i < 4; i++)
		if (strcmp(words[2], media[i]) == 0)
			options.medium = i < 3 ? (enum ssl_medium)i : SSL_PCM;
	if (strcmp(words[2], "shared") == 0)
		options.left_out = SSL_ANY_MEMORY;
	if (strcmp(words[2], "normal") == 0) {
		options.medium = SSL_FDATASYNC;
		options.synchronous = SSL_NORMAL;
	}
	if (!load_open(&ours, words[3], &options, &error))
		fail(error.text);
	if (strcmp(words[1], "run") == 0)
		run(&ours, strtoull(words[4], NULL, 10));
	else
		verify(&ours, strtoull(words[4], NULL, 10), strtoll(words[5], NULL, 10));
	if (!ssl_close(ours.ssl, &error))
		fail(error.text);
	return 0;
}

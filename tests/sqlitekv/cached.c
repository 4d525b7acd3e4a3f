/* The query cache against an oracle without one: the same operations on a table with a cache and on
 * one without, and each row that is read compared. The table t is read by prepared statements; r
 * and s, which have the same keys, by texts that are looked up before they are compiled.
 *
 * usage: cached FOLDER OPERATIONS SEED
 * It prints how many rows were read, how the cache was used, and how many texts it answered.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

enum { KEYS = 2000, GROUPS = 100, CACHE = 8 * CACHE_SLAB, LONGEST = 3000 };

enum { BOTH_SIDES = 2 };
enum { SELECT, SELECT_GROUP, REPLACE, UPDATE, DELETE, DELETE_GROUP, STATEMENTS };

static const char *const texts[STATEMENTS] = {
	[SELECT] = "SELECT v, n FROM t WHERE g=?1 AND k=?2",
	[SELECT_GROUP] = "SELECT k, v, n FROM t WHERE g=?1 ORDER BY k",
	[REPLACE] = "REPLACE INTO t VALUES(?1, ?2, substr(?3, 1, ?4), ?4)",
	[UPDATE] = "UPDATE t SET n=n+1 WHERE g=?1 AND k=?2",
	[DELETE] = "DELETE FROM t WHERE g=?1 AND k=?2",
	[DELETE_GROUP] = "DELETE FROM t WHERE g=?1",
};

static struct side {
	sqlite3 *db;
	struct store *store;
	sqlite3_stmt *statements[STATEMENTS];
} sides[BOTH_SIDES];

static char filler[LONGEST + 1];
static uint64_t state;
static int64_t rows_read, direct_answers;

/* xorshift64 */
static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

static void open_side(struct side *side, const char *folder, int64_t cache)
{
	struct store_options options = {
		.sync_given = true, .cache_given = true, .cache_size = cache};
	char *sql = sqlite3_mprintf(
		"CREATE VIRTUAL TABLE t USING sqlitekv(%Q, g INTEGER, k TEXT, v TEXT, n INTEGER, "
		"PRIMARY KEY(g, k));"
		"CREATE VIRTUAL TABLE r USING sqlitekv(%Q, id INTEGER PRIMARY KEY, v TEXT, n);"
		"CREATE VIRTUAL TABLE s USING sqlitekv(%Q, n REAL, id INT PRIMARY KEY, v TEXT)",
		folder, folder, folder);

	side->store = open_kv(folder, &options, false, &side->db);
	execute(side->db, sql);
	sqlite3_free(sql);
	for (int i = 0; i < STATEMENTS; i++)
		if (sqlite3_prepare_v2(side->db, texts[i], -1, &side->statements[i], NULL) !=
		    SQLITE_OK)
			fail(texts[i], sqlite3_errmsg(side->db));
}

static void close_side(struct side *side)
{
	for (int i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(side->statements[i]);
	store_close(side->store);
	sqlite3_close(side->db);
}

/* Of a query with a cache and without one; NULL: there is none. Frees them. */
static void compare_rows(const char *sql, char *cached, char *read)
{
	if ((cached == NULL) != (read == NULL) || (read != NULL && strcmp(cached, read) != 0))
		fail(sql, "a stale row");
	sqlite3_free(cached);
	sqlite3_free(read);
}

/* Runs a statement of a key on both sides, row by row. */
static void run(int which, uint32_t key, uint32_t length)
{
	char text[16];
	int codes[BOTH_SIDES];

	snprintf(text, sizeof(text), "key%u", key);
	for (int i = 0; i < BOTH_SIDES; i++) {
		sqlite3_stmt *statement = sides[i].statements[which];

		sqlite3_reset(statement);
		sqlite3_bind_int(statement, 1, (int)(key % GROUPS));
		if (sqlite3_bind_parameter_count(statement) > 1)
			sqlite3_bind_text(statement, 2, text, -1, SQLITE_TRANSIENT);
		if (which == REPLACE) {
			sqlite3_bind_text(statement, 3, filler, LONGEST, SQLITE_STATIC);
			sqlite3_bind_int(statement, 4, (int)length);
		}
	}
	do {
		for (int i = 0; i < BOTH_SIDES; i++)
			codes[i] = sqlite3_step(sides[i].statements[which]);
		if (codes[0] != codes[1])
			fail(texts[which], "a stale row");
		if (codes[0] != SQLITE_ROW && codes[0] != SQLITE_DONE)
			fail(texts[which], sqlite3_errmsg(sides[0].db));
		rows_read += codes[0] == SQLITE_ROW;
		if (codes[0] == SQLITE_ROW)
			compare_rows(texts[which], row_text(sides[0].statements[which]),
				     row_text(sides[1].statements[which]));
	} while (codes[0] == SQLITE_ROW);
	for (int i = 0; i < BOTH_SIDES; i++)
		sqlite3_reset(sides[i].statements[which]);
}

static void both(const char *sql)
{
	for (int i = 0; i < BOTH_SIDES; i++)
		execute(sides[i].db, sql);
}

/* Begins or ends transactions and savepoints now and then. */
static void transact(void)
{
	static int inside, saved;
	uint32_t kind = draw(100);

	if (inside && kind < 30) {
		both(kind < 15 ? "COMMIT" : "ROLLBACK");
		inside = saved = 0;
	} else if (inside && kind < 50) {
		both(saved ? "ROLLBACK TO s" : "SAVEPOINT s");
		saved = 1;
	} else if (!inside && kind < 10) {
		both("BEGIN");
		inside = 1;
	}
}

/* Returns the row of a query, as the driver executes it: NULL if there is none. */
static char *read_text(struct side *side, const char *sql)
{
	const char *rest = sql;
	sqlite3_stmt *statement;
	struct direct direct;
	char *row = NULL;

	if (direct_read(side->store->module, &rest, &direct)) {
		direct_answers++;
		return direct.has_row ? direct_text(&direct) : NULL;
	}
	if (sqlite3_prepare_v2(side->db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail(sql, sqlite3_errmsg(side->db));
	if (sqlite3_step(statement) == SQLITE_ROW)
		row = row_text(statement);
	if (sqlite3_finalize(statement) != SQLITE_OK)
		fail(sql, sqlite3_errmsg(side->db));
	return row;
}

static void compare_text(const char *sql)
{
	char *cached = read_text(&sides[0], sql), *read = read_text(&sides[1], sql);

	rows_read += read != NULL;
	compare_rows(sql, cached, read);
}

static void operate_text(uint32_t kind, uint32_t key)
{
	static const char *const queries[] = {
		"SELECT v, n FROM %s WHERE id=%u;", "SELECT n FROM %s WHERE id=%u",
		"SELECT * FROM %s WHERE id = %u", "SELECT id,v FROM %s WHERE id=%u AND 1;"};
	const char *name = draw(2) == 0 ? "r" : "s";
	char *sql;

	if (kind < 65)
		sql = sqlite3_mprintf(queries[draw(4)], name, key);
	else if (kind < 85)
		sql = sqlite3_mprintf("REPLACE INTO %s(id, v, n) VALUES(%u, '%.*s', %u)", name, key,
				      (int)draw(draw(10) == 0 ? LONGEST : 200), filler, draw(1000));
	else if (kind < 93)
		sql = sqlite3_mprintf("UPDATE %s SET n=n+1 WHERE id=%u", name, key);
	else
		sql = sqlite3_mprintf("DELETE FROM %s WHERE id=%u", name, key);
	if (sql == NULL)
		fail("operate", "no memory");
	if (kind < 65)
		compare_text(sql);
	else
		both(sql);
	sqlite3_free(sql);
}

static void operate(void)
{
	uint32_t kind = draw(100), key = draw(KEYS);

	/* some keys are asked for often */
	if (draw(3) == 0)
		key %= 50;
	if (draw(20) == 0)
		transact();
	if (draw(2) == 0)
		operate_text(kind, key);
	else if (kind < 65)
		run(SELECT, key, 0);
	else if (kind < 75)
		run(SELECT_GROUP, key, 0);
	else if (kind < 88)
		run(REPLACE, key, draw(draw(10) == 0 ? LONGEST : 200));
	else if (kind < 94)
		run(UPDATE, key, 0);
	else if (kind < 99)
		run(DELETE, key, 0);
	else if (draw(20) == 0)
		run(DELETE_GROUP, key, 0);
}

int main(int argc, char **argv)
{
	struct cache_counts counts;
	char path[2][4096];

	if (argc != 4)
		fail("usage", "cached FOLDER OPERATIONS SEED");
	state = strtoull(argv[3], NULL, 10) * 2654435769u + 1;
	memset(filler, 'x', LONGEST);
	for (int i = 0; i < BOTH_SIDES; i++) {
		snprintf(path[i], sizeof(path[i]), "%s-%d", argv[1], i);
		open_side(&sides[i], path[i], i == 0 ? CACHE : 0);
	}
	for (int64_t left = atoll(argv[2]); left > 0; left--)
		operate();
	counts = cache_counts(sides[0].store->cache);
	printf("%lld rows, %lld hits, %lld misses, %lld evicted, %lld direct\n",
	       (long long)rows_read, (long long)counts.hits, (long long)counts.misses,
	       (long long)counts.evicted, (long long)direct_answers);
	for (int i = 0; i < BOTH_SIDES; i++)
		close_side(&sides[i]);
	return 0;
}

/* The schema and the random transactions of load.h, each known by its seed and number. */
#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prng.h"
#include "release.h"
#include "target.h"

const char *const mixes[MIXES] = {"all", "plain", "values", "random", "blobs", "same"};

static const char schema[] =
	"CREATE TABLE t(id INTEGER PRIMARY KEY, k INT, v, r DEFAULT (random()));"
	"CREATE TABLE audit(id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT, r DEFAULT (random()));"
	"CREATE TABLE w(name TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE parent(id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
	"CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent(id) ON DELETE CASCADE,"
	" size INT CHECK (size >= 0));"
	"CREATE INDEX t_k ON t(k);"
	"CREATE TRIGGER noted AFTER UPDATE OF k ON t BEGIN"
	" INSERT INTO audit(what) VALUES(new.id || ':' || new.k); END;"
	"CREATE VIEW sums AS SELECT k, count(*) AS n FROM t GROUP BY k;"
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)"
	" INSERT INTO t(id, k, v, r) SELECT i, i % 7, zeroblob(i * 4), i FROM n;"
	"WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12)"
	" INSERT INTO parent SELECT i, 'p' || i FROM n;";

static const char strict[] = "CREATE TABLE strictly(id INTEGER PRIMARY KEY, n INT, x REAL, twice "
			     "INT AS (n * 2) STORED, v ANY)"
			     " STRICT";

static struct prng state;

static uint64_t draw(uint64_t below)
{
	return prng_next(&state) % below;
}

/* What came with a release later than 3.8.11; UPSERT of any conflict. */
enum { RETURNING = 3035000, UPSERT = 3035000, STRICT = 3037000, JSON = 3038000 };

static bool has(int release)
{
	return sqlite3_libversion_number() >= release;
}

bool load_open(struct target *target, const char *name, const struct ssl_options *options,
	       struct error *error)
{
	*target = (struct target){0};
	if (!ssl_open(name, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options, &target->ssl,
		      error))
		return false;
	target->db = ssl_db(target->ssl);
	sqlite3_db_config(target->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	return true;
}

int load_create(const struct target *target)
{
	int result = target_run(target, schema);

	if (result == SQLITE_OK && has(STRICT))
		result = target_run(target, strict);
	if (result == SQLITE_OK)
		result = sqlite3_db_config(target->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	return result;
}

/* What all statements of a transaction do, one after the other until one fails. */
static int insert(struct target *target, int64_t number)
{
	int64_t id = 1000 + number * 1000 + (int64_t)draw(900);

	return run_statement(target,
			     "INSERT OR REPLACE INTO t(id, k, v, r) VALUES(?1, ?1 % 13, ?2, 0)", id,
			     draw(4096));
}

static int update(struct target *target)
{
	switch (draw(4)) {
	case 0:
		return run_statement(target, "UPDATE t SET v=?2 WHERE id % 10=?1",
				     (int64_t)draw(10), draw(4096));
	case 1:
		return run_statement(target, "UPDATE t SET k=k+1 WHERE id=?1", (int64_t)draw(60),
				     0);
	case 2:
		return run_statement(target,
				     has(UPSERT) ? "INSERT INTO w VALUES('n' || ?1, ?2)"
						   " ON CONFLICT DO UPDATE SET value=excluded.value"
						 : "INSERT OR REPLACE INTO w VALUES('n' || ?1, ?2)",
				     (int64_t)draw(40), draw(4096));
	default:
		return run_statement(target, "UPDATE t SET v=?2, k=?1 WHERE k=?1 - 1",
				     (int64_t)draw(12), draw(4096));
	}
}

static int change(struct target *target, int64_t number)
{
	switch (draw(8)) {
	case 0:
	case 1:
	case 2:
		return insert(target, number);
	case 3:
		return run_statement(target, "DELETE FROM t WHERE id % 100=?1", (int64_t)draw(100),
				     0);
	case 4:
		return run_statement(target, "DELETE FROM w WHERE name='n' || ?1",
				     (int64_t)draw(40), 0);
	default:
		return update(target);
	}
}

static int changes(struct target *target, int64_t number, uint64_t count)
{
	int result = SQLITE_OK;

	for (uint64_t i = 0; result == SQLITE_OK && i < count; i++)
		result = change(target, number);
	return result;
}

static int with_savepoints(struct target *target, int64_t number)
{
	bool outer = draw(2) == 0;

	TRY(run_plain(target, outer ? "SAVEPOINT a" : "/* -- */ BEGIN; "));
	TRY(changes(target, number, 1 + draw(3)));
	TRY(run_plain(target, "SAVEPOINT b"));
	TRY(changes(target, number, 1 + draw(3)));
	if (draw(2) == 0)
		TRY(run_plain(target, "ROLLBACK TRANSACTION TO SAVEPOINT b"));
	TRY(changes(target, number, draw(2)));
	TRY(run_plain(target, "RELEASE b"));
	return run_plain(target, outer ? "RELEASE a" : "COMMIT");
}

static int with_failure(struct target *target, int64_t number)
{
	int result;

	TRY(run_plain(target, "BEGIN"));
	TRY(changes(target, number, 1 + draw(3)));
	result = draw(2) == 0
			 ? run_plain(target, "INSERT INTO parent VALUES(1, 'again')")
			 : run_plain(target, "INSERT OR FAIL INTO child"
					     " SELECT NULL, 2, 3 - id FROM parent WHERE id > 1");
	if (result != SQLITE_OK && (result & 0xff) != SQLITE_CONSTRAINT)
		return result;
	TRY(changes(target, number, draw(2)));
	return run_plain(target, "COMMIT");
}

static int with_relatives(struct target *target)
{
	TRY(run_plain(target, "BEGIN IMMEDIATE"));
	TRY(run_statement(target, "INSERT OR IGNORE INTO parent(name) VALUES('q' || ?1)",
			  (int64_t)draw(1000), 0));
	TRY(run_statement(target, "INSERT INTO child(parent, size) SELECT max(id), ?1 FROM parent",
			  (int64_t)draw(100), 0));
	TRY(run_plain(target,
		      "INSERT INTO child(id, parent, size) SELECT last_insert_rowid() + 1, 2, 4"));
	if (draw(3) == 0)
		TRY(run_statement(target, "DELETE FROM parent WHERE id > 12 AND id % 3=?1",
				  (int64_t)draw(3), 0));
	return run_plain(target, "COMMIT");
}

static int with_blob(struct target *target, int64_t number, bool outside)
{
	sqlite3_blob *blob;
	const uint64_t data = draw(UINT64_C(1) << 60);
	int result;

	if (!outside)
		TRY(run_plain(target, "BEGIN"));
	if (!outside)
		TRY(run_statement(target, "UPDATE w SET value=?2 WHERE name='n' || ?1",
				  (int64_t)number % 40, draw(4096)));
	if (!outside)
		TRY(run_statement(target, "INSERT OR REPLACE INTO w VALUES('blob', ?1)", number,
				  0));
	result = sqlite3_blob_open(target->db, "main", "t", "v", 40, 1, &blob);
	/* it may be no blob any more */
	if ((result & 0xff) != SQLITE_OK && (result & 0xff) != SQLITE_ERROR)
		return result;
	if (result == SQLITE_OK && sqlite3_blob_bytes(blob) >= 8)
		result = target->ssl != NULL ? ssl_blob_write(target->ssl, blob, &data, 8, 0)
					     : sqlite3_blob_write(blob, &data, 8, 0);
	else
		result = SQLITE_OK;
	{
		int closed = sqlite3_blob_close(blob);

		if (result == SQLITE_OK)
			result = closed;
	}
	TRY(result);
	return outside ? SQLITE_OK : run_plain(target, "COMMIT");
}

static int with_much(struct target *target, int64_t number)
{
	TRY(run_plain(target, "BEGIN"));
	for (int i = 0; i < 250; i++)
		TRY(run_statement(target, "INSERT OR REPLACE INTO w VALUES('much' || ?1, ?2)",
				  i % 90, draw(4096) | 7));
	TRY(changes(target, number, 2));
	return run_plain(target, "COMMIT");
}

static int with_temporary(struct target *target, int64_t number)
{
	TRY(run_plain(target, "CREATE TEMP TABLE IF NOT EXISTS own(id INTEGER PRIMARY KEY, v)"));
	/* one that failed may have left some */
	TRY(run_plain(target, "DELETE FROM own"));
	TRY(run_statement(target, "INSERT OR REPLACE INTO own VALUES(?1 % 5, ?2)", number,
			  draw(4096)));
	TRY(run_plain(target, "BEGIN"));
	TRY(changes(target, number, 1));
	TRY(run_plain(target,
		      "INSERT OR REPLACE INTO t(id, k, v, r) SELECT 900 + id, 1, v, 0 FROM own"));
	return run_plain(target, "COMMIT");
}

/* A value that is not of its column's type fails, as the last of a transaction's or of one alone.
 */
static int with_strict(struct target *target, int64_t number)
{
	int result;

	if (!has(STRICT))
		return change(target, number);
	if (draw(2) == 0)
		return run_statement(
			target,
			"INSERT OR REPLACE INTO strictly(id, n, x, v) VALUES(?1 % 9, ?1, ?1 / 3,"
			" ?2)",
			number, draw(4096));
	TRY(run_plain(target, "BEGIN"));
	TRY(run_statement(target, "UPDATE strictly SET n=n+?1, v=?2", number, draw(4096)));
	result = run_statement(target, "INSERT INTO strictly(n) VALUES('n' || ?1)", number, 0);
	if (result != SQLITE_OK && (result & 0xff) != SQLITE_CONSTRAINT)
		return result;
	return run_plain(target, "COMMIT");
}

static int with_schema(struct target *target, int64_t number)
{
	load_end_reading(target);
	TRY(run_plain(target, "BEGIN"));
	TRY(changes(target, number, 1));
	TRY(run_plain(target, draw(2) == 0 ? "CREATE INDEX IF NOT EXISTS more ON t(v, k)"
					   : "DROP INDEX IF EXISTS more"));
	return run_plain(target, "COMMIT");
}

static int with_returning(struct target *target, int64_t number)
{
	union statement statement;

	if (!has(RETURNING))
		return change(target, number);
	TRY(target_prepare(target, "UPDATE t SET k=k+?1 WHERE id < 20 RETURNING id", &statement));
	TRY(target_bind_number(target, statement, 1, (int64_t)draw(3)));
	/* the first row is all that is asked for */
	if (target->ssl != NULL) {
		ssl_step(statement.ours);
		return ssl_finalize(statement.ours);
	}
	sqlite3_step(statement.plain);
	return sqlite3_finalize(statement.plain);
}

static int left_reading(struct target *target, int64_t number)
{
	load_end_reading(target);
	TRY(sqlite3_prepare_v2(target->db, "SELECT * FROM t ORDER BY id", -1, &target->reading,
			       NULL));
	if (sqlite3_step(target->reading) != SQLITE_ROW)
		load_end_reading(target);
	return change(target, number);
}

static int random_values(struct target *target, int64_t number)
{
	TRY(run_plain(target, "BEGIN"));
	TRY(run_statement(target, "INSERT INTO t(k, v, r) VALUES(?1 % 5, 1, random())", number, 0));
	TRY(run_plain(target,
		      "UPDATE t SET r=hex(randomblob(8)) WHERE id=(SELECT max(id) FROM t)"));
	TRY(run_plain(target,
		      "UPDATE t SET r=julianday('now') || r || strftime('%f', 'now') WHERE k=3"));
	TRY(run_statement(target, "INSERT INTO t(k, v) VALUES(?1 % 5, 2)", number, 0));
	return run_plain(target, "COMMIT");
}

static int rest(struct target *target, int64_t number, uint64_t kind)
{
	switch (kind) {
	case 0:
		return with_schema(target, number);
	case 1:
		return with_blob(target, number, draw(3) == 0);
	case 2:
		return with_much(target, number);
	case 3:
		return with_temporary(target, number);
	case 4:
		TRY(run_plain(target, "BEGIN"));
		TRY(changes(target, number, 2));
		TRY(run_plain(target, "UPDATE t SET k=k+changes() WHERE id=7"));
		return run_plain(target, "COMMIT");
	case 5:
		TRY(run_plain(target, draw(2) == 0 ? "PRAGMA recursive_triggers=on"
						   : "PRAGMA recursive_triggers=0"));
		return change(target, number);
	case 6:
		TRY(run_plain(target, "BEGIN"));
		TRY(changes(target, number, 3));
		return run_plain(target, "ROLLBACK");
	case 7:
		return left_reading(target, number);
	case 8:
		load_end_reading(target);
		return draw(8) == 0 ? run_plain(target, "VACUUM") : change(target, number);
	case 9:
		return draw(8) == 0 ? sqlite3_exec(target->db, "UPDATE t SET k=k+2 WHERE id=9",
						   NULL, NULL, NULL)
				    : change(target, number);
	case 10:
		if (!has(JSON))
			return change(target, number);
		TRY(run_plain(target, "INSERT INTO t(k, v, r) SELECT k, value, 0 FROM "
				      "json_each('[1,2]'), t LIMIT 2"));
		return SQLITE_OK;
	case 11:
	case 12:
		return with_strict(target, number);
	default:
		return with_failure(target, number);
	}
}

static int one(struct target *target, enum mix mix, int64_t number)
{
	uint64_t kind = draw(34);

	switch (mix) {
	case MIX_VALUES:
		return run_statement(target, "UPDATE t SET v=?2 WHERE id=?1", (int64_t)draw(60),
				     draw(4096));
	case MIX_RANDOM:
		return random_values(target, number);
	case MIX_BLOBS:
		return with_blob(target, number, false);
	case MIX_SAME:
		return run_statement(target, "UPDATE t SET k=k+1 WHERE id=?1",
				     1 + (int64_t)draw(60), 0);
	default:
		break;
	}
	if (mix == MIX_ALL && kind >= 20)
		return rest(target, number, kind - 20);
	switch (kind % 8) {
	case 0:
		TRY(run_plain(target, "BEGIN"));
		TRY(changes(target, number, 3 + draw(12)));
		return run_plain(target, "COMMIT");
	case 1:
		return with_savepoints(target, number);
	case 2:
		return with_relatives(target);
	case 3:
		return with_returning(target, number);
	case 4:
		return mix == MIX_ALL ? random_values(target, number) : change(target, number);
	default:
		return change(target, number);
	}
}

int load_transaction(struct target *target, enum mix mix, uint64_t seed, int64_t number)
{
	int result;

	state.state = seed * 1000003 + (uint64_t)number;
	result = one(target, mix, number);
	if (!sqlite3_get_autocommit(target->db)) {
		int ended = run_plain(target, "ROLLBACK");

		if (result == SQLITE_OK)
			result = ended;
	}
	return result;
}

void load_end_reading(struct target *target)
{
	sqlite3_finalize(target->reading);
	target->reading = NULL;
}

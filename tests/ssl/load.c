#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

/* The calls of either kind of database. */

union statement {
	struct ssl_stmt *ours;
	sqlite3_stmt *plain;
};

static int prepare(struct target *target, const char *sql, union statement *made)
{
	if (target->ssl != NULL)
		return ssl_prepare(target->ssl, sql, -1, &made->ours, NULL);
	return sqlite3_prepare_v2(target->db, sql, -1, &made->plain, NULL);
}

/* A value of a kind that `draw` chooses; the same for both. */
static int bind_any(struct target *target, union statement to, int index, uint64_t what)
{
	static const double reals[] = {0.1 + 0.2, 1e308 * 10, -0.0, 1.0 / 3, 5e-324};
	static const uint16_t wide[] = {'w', 0x20ac, 0xd83d, 0xde00, 'x', 0};
	char text[80];
	int size = (int)(what / 8 % 60);

	memset(text, 'a' + (int)(what % 26), sizeof(text));
	text[1] = '\'';
	if (size > 10)
		text[5] = '\0';
#define BIND(name, ...)                                                                            \
	(target->ssl != NULL ? ssl_bind_##name(to.ours, index, __VA_ARGS__)                        \
			     : sqlite3_bind_##name(to.plain, index, __VA_ARGS__ LIFE))
	switch (what % 8) {
	case 0:
#define LIFE
		return BIND(int64, (int64_t)(what * UINT64_C(0x9e3779b97f4a7c15)));
	case 1:
		return BIND(double, reals[what / 8 % 5]);
	case 4:
		return BIND(zeroblob, size);
	case 5:
		return target->ssl != NULL ? ssl_bind_null(to.ours, index)
					   : sqlite3_bind_null(to.plain, index);
#undef LIFE
#define LIFE , SQLITE_TRANSIENT
	case 2:
		return BIND(text, text, size);
	case 3:
		return BIND(blob, text, size);
	case 6:
		return BIND(text16, wide, -1);
	default:
		return BIND(text, "plain", -1);
	}
#undef LIFE
}

static int bind_number(struct target *target, union statement to, int index, int64_t value)
{
	return target->ssl != NULL ? ssl_bind_int64(to.ours, index, value)
				   : sqlite3_bind_int64(to.plain, index, value);
}

static int finish(struct target *target, union statement statement)
{
	int result;

	do
		result = target->ssl != NULL ? ssl_step(statement.ours)
					     : sqlite3_step(statement.plain);
	while (result == SQLITE_ROW);
	if (target->ssl != NULL)
		ssl_finalize(statement.ours);
	else
		sqlite3_finalize(statement.plain);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* A statement with a number, if it has ?1, and a value, if it has ?2. */
static int run(struct target *target, const char *sql, int64_t number, uint64_t value)
{
	union statement statement;
	int result = prepare(target, sql, &statement);

	if (result != SQLITE_OK)
		return result;
	if (strstr(sql, "?1") != NULL)
		result = bind_number(target, statement, 1, number);
	if (result == SQLITE_OK && strstr(sql, "?2") != NULL)
		result = bind_any(target, statement, 2, value);
	if (result != SQLITE_OK) {
		if (target->ssl != NULL)
			ssl_finalize(statement.ours);
		else
			sqlite3_finalize(statement.plain);
		return result;
	}
	return finish(target, statement);
}

static int plain(struct target *target, const char *sql)
{
	return run(target, sql, 0, 0);
}

int load_create(const struct target *target)
{
	int result = target->ssl != NULL ? ssl_exec(target->ssl, schema)
					 : sqlite3_exec(target->db, schema, NULL, NULL, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_db_config(target->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	return result;
}

/* What all statements of a transaction do, one after the other until one fails. */
static int insert(struct target *target, int64_t number)
{
	int64_t id = 1000 + number * 1000 + (int64_t)draw(900);

	return run(target, "INSERT OR REPLACE INTO t(id, k, v, r) VALUES(?1, ?1 % 13, ?2, 0)", id, draw(4096));
}

static int update(struct target *target)
{
	switch (draw(4)) {
	case 0:
		return run(target, "UPDATE t SET v=?2 WHERE id % 10=?1", (int64_t)draw(10),
			   draw(4096));
	case 1:
		return run(target, "UPDATE t SET k=k+1 WHERE id=?1", (int64_t)draw(60), 0);
	case 2:
		return run(target, "INSERT INTO w VALUES('n' || ?1, ?2)"
				   " ON CONFLICT DO UPDATE SET value=excluded.value",
			   (int64_t)draw(40), draw(4096));
	default:
		return run(target, "UPDATE t SET v=?2, k=?1 WHERE k=?1 - 1", (int64_t)draw(12),
			   draw(4096));
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
		return run(target, "DELETE FROM t WHERE id % 100=?1", (int64_t)draw(100), 0);
	case 4:
		return run(target, "DELETE FROM w WHERE name='n' || ?1", (int64_t)draw(40), 0);
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

#define TRY(call)                                                                                  \
	do {                                                                                       \
		int result_ = (call);                                                              \
		if (result_ != SQLITE_OK)                                                          \
			return result_;                                                            \
	} while (0)

static int with_savepoints(struct target *target, int64_t number)
{
	bool outer = draw(2) == 0;

	TRY(plain(target, outer ? "SAVEPOINT a" : "/* -- */ BEGIN; "));
	TRY(changes(target, number, 1 + draw(3)));
	TRY(plain(target, "SAVEPOINT b"));
	TRY(changes(target, number, 1 + draw(3)));
	if (draw(2) == 0)
		TRY(plain(target, "ROLLBACK TRANSACTION TO SAVEPOINT b"));
	TRY(changes(target, number, draw(2)));
	TRY(plain(target, "RELEASE b"));
	return plain(target, outer ? "RELEASE a" : "COMMIT");
}

static int with_failure(struct target *target, int64_t number)
{
	int result;

	TRY(plain(target, "BEGIN"));
	TRY(changes(target, number, 1 + draw(3)));
	result = draw(2) == 0 ? plain(target, "INSERT INTO parent VALUES(1, 'again')")
			      : plain(target, "INSERT OR FAIL INTO child"
					      " SELECT NULL, 2, 3 - id FROM parent WHERE id > 1");
	if (result != SQLITE_OK && (result & 0xff) != SQLITE_CONSTRAINT)
		return result;
	TRY(changes(target, number, draw(2)));
	return plain(target, "COMMIT");
}

static int with_relatives(struct target *target)
{
	TRY(plain(target, "BEGIN IMMEDIATE"));
	TRY(run(target, "INSERT OR IGNORE INTO parent(name) VALUES('q' || ?1)", (int64_t)draw(1000), 0));
	TRY(run(target, "INSERT INTO child(parent, size) SELECT max(id), ?1 FROM parent", (int64_t)draw(100), 0));
	TRY(plain(target, "INSERT INTO child(id, parent, size) SELECT last_insert_rowid() + 1, 2, 4"));
	if (draw(3) == 0)
		TRY(run(target, "DELETE FROM parent WHERE id > 12 AND id % 3=?1", (int64_t)draw(3), 0));
	return plain(target, "COMMIT");
}

static int with_blob(struct target *target, int64_t number, bool outside)
{
	sqlite3_blob *blob;
	const uint64_t data = draw(UINT64_C(1) << 60);
	int result;

	if (!outside)
		TRY(plain(target, "BEGIN"));
	if (!outside)
		TRY(run(target, "UPDATE w SET value=?2 WHERE name='n' || ?1", (int64_t)number % 40,
			draw(4096)));
	if (!outside)
		TRY(run(target, "INSERT OR REPLACE INTO w VALUES('blob', ?1)", number, 0));
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
	return outside ? SQLITE_OK : plain(target, "COMMIT");
}

static int with_much(struct target *target, int64_t number)
{
	TRY(plain(target, "BEGIN"));
	for (int i = 0; i < 250; i++)
		TRY(run(target, "INSERT OR REPLACE INTO w VALUES('much' || ?1, ?2)", i % 90, draw(4096) | 7));
	TRY(changes(target, number, 2));
	return plain(target, "COMMIT");
}

static int with_temporary(struct target *target, int64_t number)
{
	TRY(plain(target, "CREATE TEMP TABLE IF NOT EXISTS own(id INTEGER PRIMARY KEY, v)"));
	/* one that failed may have left some */
	TRY(plain(target, "DELETE FROM own"));
	TRY(run(target, "INSERT OR REPLACE INTO own VALUES(?1 % 5, ?2)", number, draw(4096)));
	TRY(plain(target, "BEGIN"));
	TRY(changes(target, number, 1));
	TRY(plain(target, "INSERT OR REPLACE INTO t(id, k, v, r) SELECT 900 + id, 1, v, 0 FROM own"));
	return plain(target, "COMMIT");
}

static int with_schema(struct target *target, int64_t number)
{
	load_end_reading(target);
	TRY(plain(target, "BEGIN"));
	TRY(changes(target, number, 1));
	TRY(plain(target, draw(2) == 0 ? "CREATE INDEX IF NOT EXISTS more ON t(v, k)"
				       : "DROP INDEX IF EXISTS more"));
	return plain(target, "COMMIT");
}

static int with_returning(struct target *target, int64_t number)
{
	union statement statement;

	(void)number;
	TRY(prepare(target, "UPDATE t SET k=k+?1 WHERE id < 20 RETURNING id", &statement));
	TRY(bind_number(target, statement, 1, (int64_t)draw(3)));
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
	TRY(sqlite3_prepare_v2(target->db, "SELECT * FROM t ORDER BY id", -1, &target->reading, NULL));
	if (sqlite3_step(target->reading) != SQLITE_ROW)
		load_end_reading(target);
	return change(target, number);
}

static int random_values(struct target *target, int64_t number)
{
	TRY(plain(target, "BEGIN"));
	TRY(run(target, "INSERT INTO t(k, v, r) VALUES(?1 % 5, 1, random())", number, 0));
	TRY(plain(target, "UPDATE t SET r=hex(randomblob(8)) WHERE id=(SELECT max(id) FROM t)"));
	TRY(plain(target, "UPDATE t SET r=julianday('now') || r || strftime('%f', 'now') WHERE k=3"));
	TRY(run(target, "INSERT INTO t(k, v) VALUES(?1 % 5, 2)", number, 0));
	return plain(target, "COMMIT");
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
		TRY(plain(target, "BEGIN"));
		TRY(changes(target, number, 2));
		TRY(plain(target, "UPDATE t SET k=k+changes() WHERE id=7"));
		return plain(target, "COMMIT");
	case 5:
		TRY(plain(target, draw(2) == 0 ? "PRAGMA recursive_triggers=on"
					       : "PRAGMA recursive_triggers=0"));
		return change(target, number);
	case 6:
		TRY(plain(target, "BEGIN"));
		TRY(changes(target, number, 3));
		return plain(target, "ROLLBACK");
	case 7:
		return left_reading(target, number);
	case 8:
		load_end_reading(target);
		return draw(8) == 0 ? plain(target, "VACUUM") : change(target, number);
	case 9:
		return draw(8) == 0 ? sqlite3_exec(target->db, "UPDATE t SET k=k+2 WHERE id=9", NULL, NULL, NULL)
				    : change(target, number);
	case 10:
		TRY(plain(target, "INSERT INTO t(k, v, r) SELECT k, value, 0 FROM json_each('[1,2]'), t LIMIT 2"));
		return SQLITE_OK;
	default:
		return with_failure(target, number);
	}
}

static int one(struct target *target, enum mix mix, int64_t number)
{
	uint64_t kind = draw(32);

	switch (mix) {
	case MIX_VALUES:
		return run(target, "UPDATE t SET v=?2 WHERE id=?1", (int64_t)draw(60), draw(4096));
	case MIX_RANDOM:
		return random_values(target, number);
	case MIX_BLOBS:
		return with_blob(target, number, false);
	case MIX_SAME:
		return run(target, "UPDATE t SET k=k+1 WHERE id=?1", 1 + (int64_t)draw(60), 0);
	default:
		break;
	}
	if (mix == MIX_ALL && kind >= 20)
		return rest(target, number, kind - 20);
	switch (kind % 8) {
	case 0:
		TRY(plain(target, "BEGIN"));
		TRY(changes(target, number, 3 + draw(12)));
		return plain(target, "COMMIT");
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

	state = seed * 1000003 + (uint64_t)number;
	result = one(target, mix, number);
	if (!sqlite3_get_autocommit(target->db)) {
		int ended = plain(target, "ROLLBACK");

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

static void add_hash(uint64_t *hash, const void *data, int size)
{
	const uint8_t *byte = data;

	for (int i = 0; i < size; i++)
		*hash = (*hash ^ byte[i]) * UINT64_C(0x100000001b3);
}

static void hash_rows(sqlite3 *db, const char *sql, uint64_t *hash)
{
	sqlite3_stmt *row;
	int result = sqlite3_prepare_v2(db, sql, -1, &row, NULL);

	while (result == SQLITE_OK && (result = sqlite3_step(row)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(row); i++) {
			int type = sqlite3_column_type(row, i);
			double real = type == SQLITE_FLOAT ? sqlite3_column_double(row, i) : 0;

			add_hash(hash, &type, sizeof(type));
			if (type == SQLITE_FLOAT)
				add_hash(hash, &real, sizeof(real));
			else
				add_hash(hash, sqlite3_column_blob(row, i), sqlite3_column_bytes(row, i));
		}
		result = SQLITE_OK;
	}
	if (result != SQLITE_DONE)
		add_hash(hash, &result, sizeof(result));
	sqlite3_finalize(row);
}

uint64_t load_hash(sqlite3 *db, bool coarse)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash_rows(db, coarse ? "SELECT id, k, v FROM t ORDER BY id" : "SELECT * FROM t ORDER BY id", &hash);
	hash_rows(db, coarse ? "SELECT id, what FROM audit ORDER BY id" : "SELECT * FROM audit ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM w ORDER BY name", &hash);
	hash_rows(db, "SELECT * FROM parent ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM child ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM sqlite_sequence ORDER BY name", &hash);
	hash_rows(db, "SELECT type, name, sql FROM sqlite_master ORDER BY name", &hash);
	return hash;
}

bool load_intact(sqlite3 *db)
{
	sqlite3_stmt *row = NULL;
	bool intact = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &row, NULL) == SQLITE_OK &&
		      sqlite3_step(row) == SQLITE_ROW &&
		      strcmp((const char *)sqlite3_column_text(row, 0), "ok") == 0;

	sqlite3_finalize(row);
	return intact;
}

/* The parts of load.h that look at a database: hash its rows, check its integrity, print its counts
 * as JSON. */
#include <stdio.h>
#include <string.h>

#include "disk.h"
#include "load.h"

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
				add_hash(hash, sqlite3_column_blob(row, i),
					 sqlite3_column_bytes(row, i));
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

	disk_pause(true);
	hash_rows(db, coarse ? "SELECT id, k, v FROM t ORDER BY id" : "SELECT * FROM t ORDER BY id",
		  &hash);
	hash_rows(db,
		  coarse ? "SELECT id, what FROM audit ORDER BY id"
			 : "SELECT * FROM audit ORDER BY id",
		  &hash);
	hash_rows(db, "SELECT * FROM w ORDER BY name", &hash);
	hash_rows(db, "SELECT * FROM parent ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM child ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM strictly ORDER BY id", &hash);
	hash_rows(db, "SELECT * FROM sqlite_sequence ORDER BY name", &hash);
	hash_rows(db, "SELECT type, name, sql FROM sqlite_master ORDER BY name", &hash);
	disk_pause(false);
	return hash;
}

bool load_intact(sqlite3 *db)
{
	sqlite3_stmt *row = NULL;
	bool intact;

	disk_pause(true);
	intact = sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &row, NULL) == SQLITE_OK &&
		 sqlite3_step(row) == SQLITE_ROW &&
		 strcmp((const char *)sqlite3_column_text(row, 0), "ok") == 0;
	if (!intact)
		fprintf(stderr, "%s; %s\n", sqlite3_errmsg(db), sqlite3_column_text(row, 0));
	sqlite3_finalize(row);
	disk_pause(false);
	return intact;
}

void load_print(const char *key, const char *const *names, const int64_t *counts, int size)
{
	printf(", \"%s\": {", key);
	for (int i = 0; i < size; i++)
		printf("%s\"%s\": %lld", i > 0 ? ", " : "", names[i], (long long)counts[i]);
	printf("}");
}

/* An open LevelDB database, and what all files here do with it. Keys are eight bytes, the largest
 * first, so that their order is that of the numbers. */
#ifndef COMMITPATH_LEVELDB_DATABASE_H
#define COMMITPATH_LEVELDB_DATABASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <leveldb/c.h>

#include "engine.h"

/* Numbers in engine.settings. */
enum { SYNC, BACKGROUND, WRITE_BUFFER_SIZE, MAX_FILE_SIZE, BLOCK_CACHE, BLOOM_BITS };

/* Words of its setting `background`. */
enum { INLINE, THREAD };

struct database {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_writebatch_t *batch;
	leveldb_cache_t *cache;
	leveldb_filterpolicy_t *filter; /* NULL: none */
	enum engine_use use;
	int64_t value_size, background;
	size_t loaded; /* bytes in the batch */
	bool writes;   /* the transaction that is committed writes something */
	unsigned char *buffer;
	size_t size, capacity; /* of what is rendered */
};

/* Hooks of engine.h, by file. */
bool rows_scan(struct database *database, int64_t *rows, struct error *error);
bool rows_count(struct database *database, int64_t *rows, struct error *error);
bool rows_last_key(struct database *database, int64_t *key, struct error *error);
size_t files_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES]);
extern const struct option settings[];
const char *settings_title(void);
bool settings_read(struct database *database, size_t index, char *answer, size_t size,
		   struct error *error);
bool settings_read_properties(struct database *database, struct error *error);
void settings_write_properties(struct json *json, size_t number);
void settings_write_version(struct json *json);

/* How an operation is rendered; its value follows, or of a scan the number of rows in eight bytes.
 */
struct head {
	unsigned char kind;
	unsigned char key[sizeof(uint64_t)];
	unsigned char size[sizeof(uint32_t)]; /* of what follows, the largest byte first */
};

bool transaction_render(struct database *database, const struct transaction *transaction,
			struct rendered *rendered, struct error *error);
bool transaction_commit(struct database *database, struct outcome *outcome, struct error *error);

/* Returns whether LevelDB had an error, sets it and frees its text. */
bool call_failed(const char *operation, char *message, struct error *error);

/* A number as `size` bytes, the largest first, and back. */
void encode(unsigned char *bytes, uint64_t number, size_t size);
uint64_t decode(const unsigned char *bytes, size_t size);

#endif

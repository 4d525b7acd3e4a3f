/* Internal header of the module sqlitekv, SQLite virtual tables whose rows are in a LevelDB
 * database: its structs (store, table, schema, scan) and the functions of its C files.
 *
 * A LevelDB database has any number of tables. A connection opens each database once (store.c) and
 * keeps what a transaction writes in memory (overlay.c) until its commit, which is one write batch.
 * docs/reference/sqlitekv.md describes the layout of keys and values.
 *
 * Functions that can fail return SQLite's result code. Those with `message` also set it to a line
 * from sqlite3_malloc.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <leveldb/c.h>

#ifdef SQLITEKV_EXTENSION
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT3
#else
#include "sqlite3.h"
#endif

#include "bytes.h"
#include "cache.h"
#include "overlay.h"

/* LevelDB has no limit, but keeps whole keys in a table's index. */
enum { MAX_KEY = 65536 };

int kv_fail(char **message, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A table in a database, shared by the virtual tables of a connection that have it open. */
struct shared_table {
	struct shared_table *next;
	char *name; /* in lower case */
	uint32_t id;
	int references;
	uint64_t epoch;	    /* another one after each write; for cached queries of several rows */
	bool last_is_valid; /* the largest rowid is known */
	int64_t last;
};

/* An open database. */
struct store {
	struct store *next; /* of the connection */
	struct module *module;
	char *path;
	int folder; /* a descriptor of it; -1: none */
	bool locked;
	dev_t device;
	ino_t inode;
	int references;
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_writebatch_t *batch;
	leveldb_filterpolicy_t *filter;
	bool sync;
	bool sync_given, cache_given; /* by a table; else they are the defaults */
	bool failed;		      /* a write failed: LevelDB's log may end in a part of it */
	struct overlay overlay;
	struct cache *cache; /* NULL: none */
	bool looked_up;	     /* the row that is read next, and it is not there (direct.c) */
	int64_t cache_size;
	uint64_t epoch;	    /* the last one that a table has */
	size_t *savepoints; /* by their numbers: places in the overlay's log of changes */
	size_t savepoint_count, savepoint_capacity;
	struct shared_table *tables;
};

/* What a connection has: the module's client data. */
struct module {
	sqlite3 *db;
	struct store *stores;	 /* that are open */
	int savepoints;		 /* that are open: savepoints.c */
	struct kv_table *tables; /* that are connected, of the database main */
};

/* Requested of a database; what was not given is as the open database has it, or the default. */
struct store_options {
	bool sync, sync_given;
	int64_t cache_size;
	bool cache_given;
	leveldb_env_t *environment; /* NULL: LevelDB's own, with a thread */
	/* sets further options of LevelDB by a value; NULL: none */
	void (*set_more)(leveldb_options_t *options, int64_t value);
	int64_t value;
};

int store_open(struct module *module, const char *path, const struct store_options *options,
	       bool create, struct store **opened, char **message);
void store_close(struct store *store);

/* Reads a value, of the transaction or committed, to `value`. */
int store_get(struct store *store, struct slice key, struct bytes *value, bool *found,
	      char **message);
int store_put(struct store *store, struct slice key, struct slice value);
int store_delete(struct store *store, struct slice key);
int store_commit(struct store *store, char **message);
void store_rollback(struct store *store);
/* Returns the cache; NULL if there is none, or the transaction has written: it goes past it. */
struct cache *store_cache(const struct store *store);
/* The table is written: no cached query of it is right. */
void store_next_epoch(struct store *store, struct shared_table *table);
int store_savepoint(struct store *store, int number);
void store_release(struct store *store, int number);
void store_rollback_to(struct store *store, int number);
/* Deletes all keys that begin with `prefix`, at once and outside the transaction. */
int store_delete_prefix(struct store *store, struct slice prefix, char **message);
/* Takes the message of a LevelDB call, which failed unless it is NULL. */
int store_error(const char *path, char *error, char **message);

/* registry.c: the open databases of a connection */
/* Opens and locks the folder. `same`: the connection's open store of it, and then `store` is not
 * added. */
int registry_add(struct store *store, bool create, struct store **same, char **message);
void registry_remove(const struct store *store);

/* savepoints.c: the savepoints of a transaction that makes a table */
int savepoints_register(struct module *module);
/* A table is made in the store next. */
int savepoints_join(struct store *store, char **message);

/* identity.c: the files of a folder and the database's own key */
int identity_check_folder(const char *path, bool create, char **message);
int identity_check(struct store *store, bool create, char **message);

/* A range of keys, in order, as the transaction sees it. */
struct scan {
	struct store *store;
	leveldb_iterator_t *base;
	struct overlay_node *over;
	unsigned generation; /* of the overlay */
	struct bytes start, end;
	bool backward, valid;
	bool from_overlay, from_both;
	struct bytes key, copy;
	struct slice value; /* valid until the next call */
};

int scan_begin(struct scan *scan, struct store *store, bool backward, char **message);
int scan_next(struct scan *scan, char **message);
void scan_close(struct scan *scan);

enum collation { BINARY, NOCASE, RTRIM };

struct kv_column {
	char *name, *type;
	enum collation collation;
	char affinity; /* 'B'lob, 'T'ext, 'N'umeric, 'I'nteger, 'R'eal */
	bool not_null;
	bool kept; /* in the value: the key does not have it, or not exactly */
};

/* Columns of a table, and those of its key. Without a rowid the key is in a hidden column after
 * them. */
struct kv_schema {
	struct kv_column *columns;
	int count;
	int *key; /* columns; -1: the rowid */
	int key_count;
	bool has_rowid, autoincrement;
};

int schema_parse(const char *declaration, struct kv_schema *schema, char **message);
bool schema_equal(const struct kv_schema *one, const struct kv_schema *other);
char *schema_declare(const struct kv_schema *schema);
void schema_free(struct kv_schema *schema);
extern const char *const collation_names[];

/* arguments.c: what CREATE VIRTUAL TABLE requests */
struct request {
	char *path, *declaration; /* NULL: no columns are declared */
	struct kv_schema schema;
	struct store_options store;
	bool blind;
};

/* The caller frees it also after an error. */
int request_read(int count, const char *const *arguments, struct request *request, char **message);
void request_free(struct request *request);

struct kv_table {
	sqlite3_vtab base;     /* first */
	struct kv_table *next; /* of the module's */
	struct module *module;
	struct store *store;
	struct shared_table *shared;
	char *name;
	struct kv_schema schema;
	char *gone;			/* the table is not there: why */
	bool blind;			/* an INSERT does not look for its key */
	struct bytes key, other, value; /* of a change */
	struct field *fields;
};

/* The numbers of rows that queries read are estimates: nothing counts them. */
int plan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info);
/* Sets the range of a query; `exact`: it is one key; `empty`: it has no row. */
int plan_range(struct kv_table *table, int plan, sqlite3_value **values, struct scan *scan,
	       bool *exact, bool *empty, bool *prefix);
bool plan_is_backward(int plan);

int table_create(sqlite3 *db, void *module, int count, const char *const *arguments,
		 sqlite3_vtab **vtab, char **message);
int table_connect(sqlite3 *db, void *module, int count, const char *const *arguments,
		  sqlite3_vtab **vtab, char **message);
int table_disconnect(sqlite3_vtab *vtab);
int table_destroy(sqlite3_vtab *vtab);
int table_update(sqlite3_vtab *vtab, int count, sqlite3_value **values, sqlite3_int64 *rowid);

int cursor_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **opened);
int cursor_close(sqlite3_vtab_cursor *opened);
int cursor_filter(sqlite3_vtab_cursor *opened, int plan, const char *text, int count,
		  sqlite3_value **values);
int cursor_next(sqlite3_vtab_cursor *opened);
int cursor_eof(sqlite3_vtab_cursor *opened);
int cursor_column(sqlite3_vtab_cursor *opened, sqlite3_context *context, int index);
int cursor_rowid(sqlite3_vtab_cursor *opened, sqlite3_int64 *number);

/* Adds the module to a connection. */
int module_register(sqlite3 *db, struct module **made);
/* Opens a database and all its tables; the caller closes the store before the connection. */
int module_attach(struct module *module, const char *path, const struct store_options *options,
		  bool create, bool blind, struct store **opened, char **message);

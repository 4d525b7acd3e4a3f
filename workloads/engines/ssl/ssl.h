/* Calls, options and statistics of SQLite/SSL for programs: SQLite with commits that log statements
 * instead of pages, in a separate file, and a recovery that executes them again.
 * docs/reference/ssl.md has the design.
 *
 * A program opens a database with ssl_open and changes it through the calls here. Changes by
 * SQLite's own calls on ssl_db() but sqlite3_blob_write are safe; each such commit is a checkpoint.
 * Calls that return int return SQLite's result codes. One connection has exclusive use of a
 * database. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

#ifdef SSL_EXTENSION
/* for an extension, which gets SQLite's functions as a table of addresses */
#include "sqlite3ext.h"
SQLITE_EXTENSION_INIT3
#else
#include "sqlite3.h"
#endif

/* How the log's bytes are made durable. */
enum ssl_medium {
	SSL_FDATASYNC, /* a file: written, and fdatasync */
	SSL_MSYNC,     /* a file that is mapped: copied, and msync */
	SSL_PCM,       /* mapped persistent memory: copied, and its cache lines cleaned */
};

/* When the log is synced: at each commit, or only at checkpoints. Then a power cut may lose the
 * transactions since the last one, newest first. */
enum ssl_synchronous { SSL_FULL, SSL_NORMAL };

/* The recovery: by the ids of log and WAL, or by the study's table. */
enum ssl_recovery { SSL_IDS, SSL_PAPER };

/* Time and random numbers: logged and repeated; replaced by a checkpoint; or lost. */
enum ssl_policy { SSL_CAPTURE, SSL_CHECKPOINT, SSL_IGNORE };

/* Steps that can be left out, so that tests show why they are needed. */
enum {
	SSL_BLOBS_UNNOTICED = 2, /* ssl_blob_write is not noticed */
	SSL_ANY_MEMORY = 4,	 /* SSL_PCM also maps other memory */
	SSL_RESET_UNSYNCED = 32, /* a reset of the log is not synced */
	SSL_OLDER_WAL = 128,	 /* a copied WAL is kept at an atomic checkpoint */
	SSL_EPOCH_KEPT = 64,	 /* a log that lost its first record goes on in its epoch */
};

/* Reports calls that no VFS below sees, when each ends; `begin` is `now` at its begin, `of` the
 * observer's argument. */
struct ssl_observer {
	uint64_t (*now)(void);
	/* A page that SQLite wrote to its WAL, at `offset` in it, is kept in memory. */
	void (*kept)(void *of, uint64_t begin, int64_t offset, int64_t bytes, int64_t page);
	/* To a log that is mapped. */
	void (*copied)(void *of, uint64_t begin, const void *data, int64_t offset, int64_t bytes);
	void (*synced)(void *of, uint64_t begin, int result); /* that log, by msync */
	/* The lines of such a copy, in their configured time. */
	void (*cleaned)(void *of, uint64_t begin, int64_t offset, int64_t bytes);
};

struct ssl_options {
	int64_t log_size; /* bytes of the log's file; 4 KiB to 1 GiB */
	int64_t full;	  /* per cent of it that a commit leaves before a checkpoint; 1 to 100 */
	int64_t dirty;	  /* pages that a commit leaves before one; 0: any number */
	int64_t line;	  /* bytes that SSL_PCM is written by; a power of two, 4 to 4096 */
	int64_t write_ns; /* what each such line takes, which SSL_PCM waits; 0 to 1000000 */
	enum ssl_medium medium;
	enum ssl_synchronous synchronous; /* SSL_NORMAL: of a log in a file */
	bool atomic; /* a checkpoint writes pages once, which the filesystem does all or none */
	/* that the log is in, under the database's name: each database of that name needs another;
	 * NULL: the database's */
	const char *log_folder;
	enum ssl_recovery recovery;
	enum ssl_policy policy;
	unsigned left_out;
	int64_t sector; /* bytes of a sector of a page log (engines/ppl) */
	int record;	/* enum page_record of one */
	/* SQL for a database without a page, as page_size; or NULL. The encoding is a statement's,
	 * before the first table. */
	const char *creation;
	/* Adds what repeated statements need: functions, collations; or NULL. */
	int (*connected)(sqlite3 *db, void *argument);
	void *argument;
	const struct ssl_observer *observer; /* or NULL */
	void *observed;
};

/* Why a checkpoint was made. */
enum ssl_reason {
	SSL_NO_REASON, /* no checkpoint: the transaction was logged */
	SSL_LOG_FULL,
	SSL_DIRTY_PAGES,
	SSL_REQUESTED,
	SSL_AFTER_RECOVERY,
	SSL_TOO_LARGE,	      /* the transaction, for the log */
	SSL_SCHEMA,	      /* it changes the schema */
	SSL_NOT_REPEATABLE,   /* a function that may answer otherwise */
	SSL_OTHER_DATABASE,   /* a temporary or attached one, or a virtual table */
	SSL_FAILED_STATEMENT, /* one of the transaction failed */
	SSL_NOT_CAPTURED,     /* changed by SQLite's own calls, or a blob */
	SSL_LOG_ERROR,	      /* the log could not be written before */
	SSL_SECTOR_FULL,      /* of a page log: a page's; a checkpoint of some pages */
	SSL_SECTOR_SMALL,     /* for a record; a page log's */
	SSL_SHRUNK,	      /* the database, by that transaction */
	SSL_REASONS,
};
extern const char *const ssl_reasons[SSL_REASONS];

/* The state that a recovery found; ssl_cases has the words of each kind of log, without a comma. */
enum ssl_case {
	SSL_CLEAN,	      /* no log */
	SSL_NEW,	      /* a log not begun yet, or of a closed database */
	SSL_RESET_RESET,      /* after a start or a checkpoint */
	SSL_RESET_LIVE,	      /* in a checkpoint's copy to the database */
	SSL_RESET_TORN,	      /* in a checkpoint's first step, with nothing logged */
	SSL_USED_RESET,	      /* statements alone */
	SSL_USED_LIVE,	      /* statements behind a WAL that was not copied */
	SSL_USED_TORN,	      /* statements; in a checkpoint's first step */
	SSL_WAL_AHEAD,	      /* between a checkpoint's first two steps */
	SSL_COPIED_ELSEWHERE, /* as well, by a SQLite without this; or after atomic writes */
	SSL_CASES,
};
extern const char *const ssl_cases[SSL_CASES];

struct ssl_stats {
	int64_t transactions, logged; /* commits that wrote; of those, by a record */
	int64_t checkpoints[SSL_REASONS];
	int64_t wal_pages, database_pages; /* written by checkpoints */
	int64_t wal_syncs, database_syncs, log_syncs;
	int64_t log_bytes;	       /* of records */
	int64_t log_lines, pcm_bytes;  /* written to SSL_PCM: records, headers */
	int64_t pcm_ns, pcm_waited_ns; /* what its lines take, and what was waited for them */
	int64_t records, merged_pages; /* of a page log; of checkpoints of some pages */
	int64_t memory_peak;	       /* bytes of pages held */
	int64_t dirty_pages;	       /* of all checkpoints together */
	int64_t dirty_most;	       /* of one */
	int64_t checkpoint_ns;	       /* of all together */
	int64_t checkpoint_longest_ns;
	int64_t replayed; /* transactions that were executed again */
	enum ssl_case found;
};

struct ssl;
struct ssl_stmt;

void ssl_defaults(struct ssl_options *options);

/* Opens a database, recovered. `flags`: SQLITE_OPEN_READWRITE, with SQLITE_OPEN_CREATE or not.
 * False: nothing is open, and nothing was lost. */
bool ssl_open(const char *path, int flags, const struct ssl_options *options, struct ssl **opened,
	      struct error *error);

/* Makes a checkpoint, closes and removes the log. False: the database is closed as after a crash,
 * for the next ssl_open; or still open, if it has unfinished statements or blobs. */
bool ssl_close(struct ssl *ssl, struct error *error);

/* Makes a checkpoint. */
bool ssl_checkpoint(struct ssl *ssl, struct error *error);

sqlite3 *ssl_db(struct ssl *ssl);
struct ssl_stats ssl_stats(const struct ssl *ssl);

/* Prints the state of a closed or crashed database, its log and its WAL; changes nothing. */
bool ssl_inspect(const char *path, FILE *out, struct error *error);

int ssl_prepare(struct ssl *ssl, const char *sql, int bytes, struct ssl_stmt **statement,
		const char **tail);
int ssl_bind_null(struct ssl_stmt *statement, int index);
int ssl_bind_int64(struct ssl_stmt *statement, int index, int64_t value);
int ssl_bind_double(struct ssl_stmt *statement, int index, double value);
int ssl_bind_text(struct ssl_stmt *statement, int index, const char *value, int bytes);
int ssl_bind_text16(struct ssl_stmt *statement, int index, const void *value, int bytes);
int ssl_bind_blob(struct ssl_stmt *statement, int index, const void *value, int bytes);
int ssl_bind_zeroblob(struct ssl_stmt *statement, int index, int bytes);
int ssl_step(struct ssl_stmt *statement);
int ssl_reset(struct ssl_stmt *statement);
int ssl_finalize(struct ssl_stmt *statement);
/* To read its columns; not to be stepped. */
sqlite3_stmt *ssl_statement(struct ssl_stmt *statement);

/* All statements of a text; rows are dropped. */
int ssl_exec(struct ssl *ssl, const char *sql);

/* sqlite3_blob_write, for a blob opened on ssl_db(). SQLite's own call is not noticed: a commit of
 * logged statements would lose what it wrote. */
int ssl_blob_write(struct ssl *ssl, sqlite3_blob *blob, const void *data, int bytes, int offset);

/* Internal header of SQLite/SSL and SQLite/PPL: struct ssl, an open database with its log and its
 * WAL in memory, and the functions that the C files offer each other. */
#pragma once

#include "../sqlite/comments.h"
#include "bytes.h"
#include "prng.h"
#include "release.h"

/* Bytes of a WAL's header and of a frame's (SQLite's fileformat2.html, "WAL File Format"). */
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

/* SQLite's WAL in memory. Frames are numbered from 1. */
struct frame {
	uint8_t header[FRAME_HEADER];
	uint8_t *page; /* NULL: a later frame has the page */
	bool merged;   /* it is in the database, by a checkpoint of some pages */
};

struct memory {
	uint8_t header[WAL_HEADER];
	bool begun; /* it has a header */
	uint32_t page_size;
	struct frame *frames; /* frames[i] has the number i + 1 */
	uint32_t count, room;
	uint32_t ends;	    /* the last frame written that ends a transaction */
	uint32_t committed; /* frames of committed transactions */
	uint32_t copied;    /* of those, the ones in the database */
	uint32_t *pages;    /* open addressing: frame number of a page's last committed version */
	uint32_t page_room; /* a power of two */
	uint32_t page_count;
	uint32_t dirty; /* pages of frames that are not copied */
	int64_t bytes;
};

/* The content of the WAL's file. */
enum wal_state { WAL_ABSENT, WAL_RESET, WAL_TORN, WAL_LIVE };
struct walfile {
	enum wal_state state;
	uint64_t id;	   /* of the checkpoint */
	uint64_t identity; /* of the log; 0: none */
	uint64_t mark;	   /* the id that page 1 gets */
	uint32_t salt;	   /* its first */
	bool unsynced;	   /* its reset */
	bool other;	   /* it does not begin like a WAL */
	bool whole;	   /* it has all pages that the database lacks; false: a merge */
	uint32_t page_size;
	uint32_t database_size; /* pages */
	uint32_t count;
	struct wal_page {
		uint32_t number, frame;
	} *pages;
};

struct log {
	sqlite3_file *file;
	uint8_t *map; /* of a medium that is mapped */
	int64_t size;
	int64_t tail;	   /* where the next record begins */
	int64_t appended;  /* behind the record of a commit that is not confirmed; else 0 */
	uint64_t identity; /* of this log: a random number */
	uint64_t epoch;	   /* grows with each reset */
	uint64_t base;	   /* id of the checkpoint that its statements come after */
	uint64_t sequence; /* of the next record */
	bool unsynced;	   /* its records come to the medium in any order, until it is reset */
	bool suspect;	   /* a write of it failed */
};

/* A statement's values. */
struct value {
	int type; /* enum value_type, record.c */
	struct bytes bytes;
};

struct ssl_stmt {
	struct ssl *ssl;
	sqlite3_stmt *statement;
	struct value *values; /* parameter i is values[i - 1] */
	int value_count;
	enum ssl_reason taint; /* why a record of it does not do */
	bool writes;	       /* it is to be logged */
	bool schema;	       /* it changes the schema */
	int pragma;	       /* in `repeated` of classify.c; -1: none */
	bool running;	       /* between its first step and its reset */
	uint64_t template_of;  /* transaction that has its text, at: */
	uint64_t template_at;
};

/* The open transaction. */
struct transaction_log {
	uint64_t number;
	struct bytes head;	    /* settings in effect when it begins */
	struct bytes body;	    /* its statements */
	struct bytes statement;	    /* that is executing; written to the body by record_statement */
	struct ssl_stmt *executing; /* its statement; NULL: none */
	uint64_t templates;
	bool any; /* a statement was recorded; of an adopted program: it changed a row */
	enum ssl_reason taint;
	bool used_time, used_random; /* by the statement that is executing */
	int64_t time;
	uint64_t seed;
};

enum { REPEATED_PRAGMAS = 7, UNREPEATED_SETTINGS = 3 };

struct ssl {
	struct ssl *next;
	char *path; /* full */
	const char *wal_path, *log_path;
	const char *pages_path; /* of the file that checkpoints write */
	sqlite3 *db;
	struct ssl_options options;
	struct error *error; /* of who opens it */
	sqlite3_file *database, *wal;
	int atomic_fd;	     /* of the database; 0: it is not open */
	bool database_ahead; /* it is the log's next checkpoint, and the log is not reset */
	uint32_t page_size;
	struct memory memory;
	struct walfile walfile;
	struct log log;
	struct bytes replay; /* the log's records at opening */
	struct transaction_log transaction;
	struct page_log *pages; /* of engines/ppl */
	struct ssl_stmt *preparing, *stepping;
	uint64_t authorized;	/* calls of the authorizer */
	int depth;		/* of steps within steps */
	enum ssl_reason always; /* why each commit is a checkpoint from now on */
	enum ssl_reason schema_taint;
	enum ssl_reason due; /* the checkpoint with only its WAL written */
	uint32_t due_frames;
	int64_t due_ns;	      /* that it has taken */
	int64_t due_begin_ns; /* when its first step began */
	bool internal;	      /* statements of ours are prepared */
	bool opening;	      /* pragmas that are forbidden later */
	bool absent;	      /* the database was no file before the opening that is not over */
	bool log_made;	      /* the log is this opening's */
	bool replaying;
	bool restart_due; /* SQLite is to begin its WAL again */
	bool schema_stale;
	bool closing;
	bool adopted;		/* its connection is a program's, by sqlite3_open (extension/) */
	struct ssl_stmt *plain; /* of a statement of that program's which is executing; or NULL */
	sqlite3_stmt *plain_of; /* that statement */
	int unrepeated[UNREPEATED_SETTINGS]; /* as they were when it was opened */
	struct prng random;
	char *pragmas[REPEATED_PRAGMAS];
	char **tables; /* names of main's ordinary tables and views */
	size_t table_count;
	struct ssl_stats stats;
};

/* The VFS below ours, and the statement executing on this thread. */
extern sqlite3_vfs *ssl_wrapped;
extern _Thread_local struct ssl *ssl_current;

/* vfs.c */
int vfs_register(void);
bool vfs_is_ours(const sqlite3_vfs *vfs);
/* Replaces the file that SQLite opened, and has not read yet, by a database with a log. */
int vfs_adopt(struct ssl *ssl, sqlite3_file *file, const char *name);
/* Reverts that after a failure: the file is SQLite's, and what the opening made is removed. */
void vfs_release(struct ssl *ssl, sqlite3_file *file, const char *name);
/* Whether a database with a live log that SQLite opens is left to vfs_adopt, or rejected. */
extern bool vfs_adopts;
/* Whether the database opened last on this thread, to be adopted, did not exist before. */
extern _Thread_local bool vfs_absent;

/* The observer's time now; 0: there is none. */
static inline uint64_t observed_now(const struct ssl *ssl)
{
	return ssl->options.observer != NULL ? ssl->options.observer->now() : 0;
}

/* vfs_files.c: a file of such a database, as SQLite sees it through the VFS. */
struct vfs_file {
	sqlite3_file base;
	struct ssl *ssl;
};
extern const sqlite3_io_methods vfs_wal, vfs_database;

/* The open databases with a log. */
void vfs_add(struct ssl *ssl);
void vfs_remove(struct ssl *ssl);
struct ssl *vfs_find(const char *path);

/* files.c */
int file_open(const char *path, int flags, sqlite3_file **file);
void file_close(sqlite3_file **file);
int file_read(sqlite3_file *file, void *data, int64_t size, int64_t offset);
int file_write(sqlite3_file *file, const void *data, int64_t size, int64_t offset);
bool file_absent(const char *path);
/* Flags for opening a file next to the database: as a WAL, which gets its mode from the database
 * and cannot be opened without one. */
int file_beside(const struct ssl *ssl);
/* Converts the result of a read that should end at `end`. */
int file_short(sqlite3_file *file, int result, int64_t end);

/* wal_memory.c */
int memory_write(struct memory *memory, const uint8_t *data, int size, int64_t offset);
int memory_read(const struct memory *memory, uint8_t *data, int size, int64_t offset);
int64_t memory_size(const struct memory *memory);
int memory_truncate(struct memory *memory, int64_t size);
void memory_clear(struct memory *memory);
/* The frames of a transaction are committed: older versions are freed. */
void memory_commit(struct memory *memory);
/* The first `frames` frames are in the database, or the version of a page in them is. */
void memory_copied(struct memory *memory, uint32_t frames);
void memory_merged(struct memory *memory, uint32_t page, uint32_t frames);
/* Returns the last committed version of a page; NULL: in no frame. */
const uint8_t *memory_page(const struct memory *memory, uint32_t page);
uint32_t frame_page(const struct frame *frame);
uint32_t frame_size(const struct frame *frame); /* of the database, where it ends a transaction */

/* walfile.c */
void mark_put(uint8_t *page, uint64_t identity, uint64_t id);
bool mark_get(const uint8_t *page, uint64_t *identity, uint64_t *id);
bool mark_any(const uint8_t *page);
void mark_hide(uint8_t *page);
int walfile_read(sqlite3_file *file, struct walfile *found);
/* The next checkpoint's, without pages yet. */
struct walfile walfile_next(const struct ssl *ssl);
/* Adds the pages of the frames from `first` + 1 to `frames` that the database lacks, each once with
 * its last frame; for a complete checkpoint also page 1, with frame 0 if it is in none. */
int walfile_collect(struct ssl *ssl, uint32_t first, uint32_t frames, struct walfile *made);
/* Writes them and syncs the file, which makes them durable. `made` then belongs to the file. */
int walfile_write(struct ssl *ssl, struct walfile made);
int walfile_apply(struct ssl *ssl);
int walfile_reset(struct ssl *ssl);
void walfile_free(struct walfile *walfile);

/* atomic.c. Returns whether the database's filesystem has atomic writes, with an error if not. */
int atomic_check(struct ssl *ssl);
/* Writes them to the database; after an error they may or may not be there. */
int atomic_write(struct ssl *ssl, const struct walfile *made);
void atomic_close(struct ssl *ssl);

/* medium.c. Maps the log's file if needed. SSL_PCM fails, with the reason in ssl->error, unless
 * mapped with MAP_SYNC: otherwise a cleaned line is not durable. */
int medium_map(struct ssl *ssl);
void medium_unmap(struct log *log);
/* Returns whether the log's mapping is synchronous (MAP_SYNC), according to the kernel. */
bool medium_is_synchronous(const struct ssl *ssl);
int medium_write(struct ssl *ssl, const void *data, size_t size, int64_t offset);
/* Makes what was written there durable. On SSL_PCM it returns when the lines' time has passed. */
int medium_persist(struct ssl *ssl, size_t size, int64_t offset);
/* Returns the instruction that cleans a cache line here to where it is durable. */
const char *medium_clean(void);

/* log_file.c */
enum { LOG_RECORDS = 1024, LOG_SLOT = 512, LOG_HEADER = 128, LOG_LEAST = 4096 };
enum log_state { LOG_ABSENT, LOG_UNBEGUN, LOG_GOOD, LOG_BAD };
int log_create(struct ssl *ssl);
/* `fault` gets the reason if it is invalid. */
int log_open(struct ssl *ssl, enum log_state *state, struct error *fault);
void log_begin(struct log *log, uint64_t epoch, uint64_t base);
/* Writes the header; it becomes persistent with the next persist at `offset`. */
int log_header_store(struct ssl *ssl, int64_t *offset);
int log_header_write(struct ssl *ssl);
void log_close(struct log *log);
/* Closes and deletes it when it is no longer needed. */
int log_remove(struct ssl *ssl);

/* Functions of each kind of log: in commit.c, log.c, random.c and recover.c for this one, and in
 * the folder of another engine that is made from the other files here. */
struct log_kind {
	const char *name, *vfs;
	const char *suffix, *pages_suffix; /* of the log's file, and of the one of checkpoints */
	const char *pages;		   /* what that one is called */
	char magic[14];
	uint8_t version;
	uint8_t header; /* its bytes; LOG_HEADER at most */
	bool salted;	/* the file of checkpoints has the identity's low half as its first salt */
};
extern const struct log_kind log_kind;
void log_header_put(const struct ssl *ssl, uint8_t *header);
bool log_header_get(struct ssl *ssl, const uint8_t *header, struct error *fault);
/* It was newly made, and its size is known. */
int log_made(struct ssl *ssl);
/* Whether it may have content. */
bool log_used(const struct ssl *ssl);
int log_records(struct ssl *ssl, struct bytes *records, int64_t *count);
void log_confirm(struct log *log);
void log_cancel(struct ssl *ssl);
int log_reset(struct ssl *ssl, uint64_t base);
/* Makes the committing transaction durable. */
int commit_write(struct ssl *ssl);
/* SQLite completed it, or rolled it back. */
void commit_over(struct ssl *ssl);
/* Returns why a checkpoint must follow it; SSL_NO_REASON: none. */
enum ssl_reason checkpoint_due(const struct ssl *ssl);
bool options_own(const struct ssl_options *options, struct error *error);
int connection_own(struct ssl *ssl);
/* Starts recording a connection's statements. */
int connection_watch(struct ssl *ssl);
int64_t connection_time(int64_t now);
void own_free(struct ssl *ssl);
/* Recovers a database with a live log, by its state. */
struct found;
int recover_marked(struct ssl *ssl, const struct found *found);
/* The part that needs a connection. */
int recover_statements(struct ssl *ssl);

/* log.c */
bool log_fits(const struct log *log, size_t payload);
int log_append(struct ssl *ssl, const struct bytes *payload);

/* open.c. ssl_names: names of its files; `names` holds them, for release_free_filename. */
int ssl_names(struct ssl *ssl, const char *path, char **names);
/* Initialises a new one; rejects invalid options, and a database that is open. */
int database_begin(const char *path, const struct ssl_options *options, struct error *error,
		   struct ssl **made);
/* Whether its log is live. */
int database_live(const struct ssl *ssl, bool *is);
/* Lets SQLite roll back or copy a WAL of its own, and makes it a database with a WAL. */
int database_convert(struct ssl *ssl, int flags);
/* Sets an error unless there is one. Returns the result. */
int database_failed(struct ssl *ssl, const char *what, int result);
/* Deletes the database and log that a failed opening made, unless another process wrote to them
 * since. `ssl`: NULL, if there is none yet. */
void database_unmake(const char *path, struct ssl *ssl);
void database_drop(struct ssl *ssl);
/* Gives a connection exclusive use of the database, and disables its own checkpoints. */
int connection_begin(struct ssl *ssl);

/* file_states.c */
/* The state of a database's files. */
struct found {
	enum log_state log;
	struct error fault; /* why the log is bad */
	int64_t records;
	bool marked;
	uint64_t identity, id; /* of the mark; identity 0: it is damaged */
	uint32_t page_size;    /* of the database */
};
int found_read(struct ssl *ssl, struct found *found);
/* Before SQLite uses a database without a live log: rejects files of another database next to it.
 * SQLite would copy its WAL, or delete it. */
int found_others(struct ssl *ssl);
int recover_files(struct ssl *ssl);
/* Opens the file of checkpoints if needed. */
int recover_open(struct ssl *ssl);
enum ssl_case recover_case(const struct ssl *ssl, bool used);
/* Copies the pages of the live checkpoint to the database. */
int recover_copy(struct ssl *ssl);
int recover_refuse(struct ssl *ssl, const char *what);
/* Adds the file's `name` and `path` to an error, as SQLite's message does not have them. Returns
 * the result. */
int recover_error(const struct ssl *ssl, const char *name, const char *path, int result);

/* checkpoint.c */
int commit_durable(struct ssl *ssl);
int commit_confirm(struct ssl *ssl);
void commit_cancel(struct ssl *ssl);
int checkpoint(struct ssl *ssl, enum ssl_reason reason);
/* Its first step, of the first `frames` frames. */
int checkpoint_write(struct ssl *ssl, enum ssl_reason reason, uint32_t frames);
int checkpoint_begin(struct ssl *ssl);
/* The first step is done, with these frames. */
void checkpoint_written(struct ssl *ssl, enum ssl_reason reason, uint32_t frames, uint32_t pages);
int checkpoint_restart(struct ssl *ssl);
int end_files(struct ssl *ssl);

/* record.c */
void transaction_clear(struct ssl *ssl);
void transaction_free(struct ssl *ssl);
void record_begin(struct ssl_stmt *statement);
void record_statement(struct ssl *ssl);
bool record_payload(struct ssl *ssl, struct bytes *payload);
int record_replay(struct ssl *ssl, const uint8_t *payload, size_t size);
void value_set(struct value *value, int type, const void *data, size_t size);
enum value_type {
	VALUE_NULL,
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_TEXT,
	VALUE_TEXT16,
	VALUE_BLOB,
	VALUE_ZEROS,
};

/* classify.c */
int classify_connect(struct ssl *ssl);
/* A writing statement for which the authorizer was not called. */
void classify_unasked(struct ssl_stmt *statement);
/* Returns whether a function of this name is repeatable. */
bool classify_repeats(const char *function);
bool has_word(const char *text, size_t size, const char *word);
bool begins_with(const char *sql, const char *word);
enum ssl_reason classify_text(const char *text, size_t size);
/* Returns whether a statement is logged: BEGIN and COMMIT belong to the record itself, and of
 * statements that SQLite calls read-only, only savepoints are. */
bool classify_writes(const char *sql, bool readonly);
void taint(struct ssl *ssl, enum ssl_reason reason);

/* schema.c */
int classify_schema(struct ssl *ssl);
void classify_free(struct ssl *ssl);
/* Watches for the largest rowid, after the schema is read. */
int schema_connect(struct ssl *ssl);

/* extension/plain.c: starts recording an adopted connection's statements that can be logged. */
int plain_connect(struct ssl *ssl);

/* An open database, as all files here know it. */
#ifndef COMMITPATH_SSL_STATE_H
#define COMMITPATH_SSL_STATE_H

#include "bytes.h"
#include "release.h"

/* Bytes of a WAL's header and of a frame's (SQLite's fileformat2.html, "WAL File Format"). */
enum { WAL_HEADER = 32, FRAME_HEADER = 24 };

/* What SQLite wrote to its WAL, which is in memory. Frames have numbers from 1 on. */
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
	uint32_t committed; /* frames of transactions whose commit SQLite went through with */
	uint32_t copied;    /* of those, the ones in the database */
	uint32_t *pages;    /* open addressing: frame number of a page's last committed version */
	uint32_t page_room; /* a power of two */
	uint32_t page_count;
	uint32_t dirty; /* pages of frames that are not copied */
	int64_t bytes;
};

/* What is in the WAL's file. */
enum wal_state { WAL_ABSENT, WAL_RESET, WAL_TORN, WAL_LIVE };
struct walfile {
	enum wal_state state;
	uint64_t id;	   /* of the checkpoint */
	uint64_t identity; /* of the log; 0: none */
	uint64_t mark;	   /* the id that page 1 gets */
	uint32_t salt;	   /* its first */
	bool unsynced;	   /* its reset */
	bool other;	   /* its beginning is no WAL's */
	bool whole;	   /* of all pages that the database lacks */
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

/* What a statement is given. */
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

/* The transaction that is open. */
struct transaction_log {
	uint64_t number;
	struct bytes head;	    /* what is in effect when it begins */
	struct bytes body;	    /* its statements */
	struct bytes statement;	    /* that is executing; written to the body by record_statement */
	struct ssl_stmt *executing; /* whose statement that is; NULL: none */
	uint64_t templates;
	bool any;
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
	uint64_t asked;		/* how often the authorizer was asked */
	int depth;		/* of steps within steps */
	enum ssl_reason always; /* why each commit is a checkpoint from now on */
	enum ssl_reason schema_taint;
	enum ssl_reason due; /* the checkpoint whose WAL is written and nothing more */
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
	uint64_t random;
	char *pragmas[REPEATED_PRAGMAS];
	char **tables; /* ordinary ones */
	size_t table_count;
	struct ssl_stats stats;
};

/* The VFS below ours, and whose step is executing on this thread. */
extern sqlite3_vfs *ssl_wrapped;
extern _Thread_local struct ssl *ssl_current;

/* vfs.c */
int vfs_register(void);
bool vfs_is_ours(const sqlite3_vfs *vfs);
/* Puts a database with a log in the place of the file that SQLite opened, and has not read yet. */
int vfs_adopt(struct ssl *ssl, sqlite3_file *file, const char *name);
/* The opposite, once that failed: the file is SQLite's, and what the opening made is gone. */
void vfs_release(struct ssl *ssl, sqlite3_file *file, const char *name);
/* Whether a database with a live log that SQLite opens is left to vfs_adopt; else it is refused. */
extern bool vfs_adopts;
/* Whether the database that was opened last on this thread, to be adopted, was no file before. */
extern _Thread_local bool vfs_absent;

/* observed.c. Now, by its observer; and a write to the WAL in memory. */
uint64_t observed_now(const struct ssl *ssl);
int observed_keep(struct ssl *ssl, const uint8_t *data, int size, int64_t offset);

/* databases.c */
void vfs_add(struct ssl *ssl);
void vfs_remove(struct ssl *ssl);
struct ssl *vfs_find(const char *path);

/* files.c */
int file_open(const char *path, int flags, sqlite3_file **file);
void file_close(sqlite3_file **file);
int file_read(sqlite3_file *file, void *data, int64_t size, int64_t offset);
int file_write(sqlite3_file *file, const void *data, int64_t size, int64_t offset);
/* Whether there is nothing of that name. */
bool file_absent(const char *path);
/* How a file beside the database is opened: as a WAL, which gets its mode from the database, and
 * cannot be opened where that is not there. */
int file_beside(const struct ssl *ssl);
/* What a read that ended with `result` is, which was to end at `end`. */
int file_short(sqlite3_file *file, int result, int64_t end);

/* memory.c */
int memory_write(struct memory *memory, const uint8_t *data, int size, int64_t offset);
int memory_read(const struct memory *memory, uint8_t *data, int size, int64_t offset);
int64_t memory_size(const struct memory *memory);
int memory_truncate(struct memory *memory, int64_t size);
void memory_clear(struct memory *memory);
/* The frames of a transaction are committed: what they supersede is freed. */
void memory_commit(struct memory *memory);
/* They are not. */
void memory_cancel(struct memory *memory);
void memory_copied(struct memory *memory, uint32_t frames);
/* The last committed version of a page; NULL: it is in none of its frames. */
const uint8_t *memory_page(const struct memory *memory, uint32_t page);
/* The database has what the first `frames` frames have of a page. */
void memory_merged(struct memory *memory, uint32_t page, uint32_t frames);
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
/* Adds the pages of the frames from `first` + 1 on to `frames` that the database lacks, each once,
 * by its last frame; of a whole one page 1, too, with frame 0 where it is in none. */
int walfile_collect(struct ssl *ssl, uint32_t first, uint32_t frames, struct walfile *made);
/* Writes them, and syncs the file: they are durable then. `made` is the file's from then on. */
int walfile_write(struct ssl *ssl, struct walfile made);
int walfile_apply(struct ssl *ssl);
int walfile_reset(struct ssl *ssl);
void walfile_free(struct walfile *walfile);

/* atomic.c. Whether the database's filesystem has atomic writes; says so if not. */
int atomic_check(struct ssl *ssl);
/* Writes them to the database: an error leaves it open whether they are there. */
int atomic_write(struct ssl *ssl, const struct walfile *made);
void atomic_close(struct ssl *ssl);

/* log_file.c */
enum { LOG_RECORDS = 1024, LOG_SLOT = 512, LOG_HEADER = 128, LOG_LEAST = 4096 };
enum log_state { LOG_ABSENT, LOG_UNBEGUN, LOG_GOOD, LOG_BAD };
int log_create(struct ssl *ssl);
/* `said` gets why it is bad. */
int log_open(struct ssl *ssl, enum log_state *state, struct error *said);
void log_begin(struct log *log, uint64_t epoch, uint64_t base);
/* Writes the header; it is persistent with what is persisted next at `offset`. */
int log_header_store(struct ssl *ssl, int64_t *offset);
int log_header_write(struct ssl *ssl);
void log_close(struct log *log);
/* Closes and deletes it, once nothing counts on it. */
int log_remove(struct ssl *ssl);

/* What is each kind of log's own: in log.c, kind.c and recover.c for this one, and in the folder
 * of another engine that is made of the other files here. */
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
bool log_header_get(struct ssl *ssl, const uint8_t *header, struct error *said);
/* It is made anew, and its size is known. */
int log_made(struct ssl *ssl);
/* Whether something may be in it. */
bool log_used(const struct ssl *ssl);
int log_records(struct ssl *ssl, struct bytes *records, int64_t *count);
void log_confirm(struct log *log);
void log_cancel(struct ssl *ssl);
int log_reset(struct ssl *ssl, uint64_t base);
/* Makes the transaction that commits durable. */
int commit_write(struct ssl *ssl);
/* It is over: SQLite went through with it, or rolled it back. */
void commit_over(struct ssl *ssl);
/* Why a checkpoint is to follow it; SSL_LOGGED: none is. */
enum ssl_reason checkpoint_due(const struct ssl *ssl);
bool options_own(const struct ssl_options *options, struct error *error);
int connection_own(struct ssl *ssl);
/* Notes what a connection executes from now on. */
int connection_watch(struct ssl *ssl);
int64_t connection_time(int64_t now);
void own_free(struct ssl *ssl);
/* Of a database whose log is live, by what was found. */
struct found;
int recover_marked(struct ssl *ssl, const struct found *found);
/* What of it needs a connection. */
int recover_statements(struct ssl *ssl);

/* log.c */
bool log_fits(const struct log *log, size_t payload);
int log_append(struct ssl *ssl, const struct bytes *payload);

/* open.c. ssl_names: of its files; `names` is what they are in, for release_free_filename. */
int ssl_names(struct ssl *ssl, const char *path, char **names);
/* What a new one begins with; refuses options that cannot be, and one that is open. */
int database_begin(const char *path, const struct ssl_options *options, struct error *error,
		   struct ssl **made);
/* Whether its log is live. */
int database_live(const struct ssl *ssl, bool *is);
/* Lets SQLite itself roll back, or copy a WAL of its own, and makes it a database with a WAL. */
int database_convert(struct ssl *ssl, int flags);
/* Says why, if nobody has. Returns the result. */
int database_failed(struct ssl *ssl, const char *what, int result);
/* An opening that failed has made a database: it is deleted, and its log, if that was made, unless
 * somebody wrote to it since. `ssl`: NULL, if there is none yet. */
void database_unmake(const char *path, struct ssl *ssl);
void database_drop(struct ssl *ssl);
/* Makes a connection one that has the database to itself, and leaves checkpoints to us. */
int connection_begin(struct ssl *ssl);

/* found.c */
/* What there is of a database. */
struct found {
	enum log_state log;
	struct error said; /* why the log is bad */
	int64_t records;
	bool marked;
	uint64_t identity, id; /* of the mark; identity 0: it is damaged */
	uint32_t page_size;    /* of the database */
};
int found_read(struct ssl *ssl, struct found *found);
/* Before SQLite has a database whose log is not live: refuses what is beside it of another. SQLite
 * would copy its WAL, or delete it. */
int found_others(struct ssl *ssl);
int recover_files(struct ssl *ssl);
/* Opens the file of checkpoints, if it is not open. */
int recover_open(struct ssl *ssl);
enum ssl_case recover_case(const struct ssl *ssl, bool used);
/* Copies the pages of the checkpoint whose file is live. */
int recover_copy(struct ssl *ssl);
int recover_refuse(struct ssl *ssl, const char *what);
/* Says of a call's result, if it is none that is well, which of the files beside the database it
 * was of, as SQLite's words do not: `name` of `path`. Returns the result. */
int recover_told(const struct ssl *ssl, const char *name, const char *path, int result);

/* checkpoint.c */
int commit_durable(struct ssl *ssl);
int commit_confirm(struct ssl *ssl);
void commit_cancel(struct ssl *ssl);
int checkpoint(struct ssl *ssl, enum ssl_reason reason);
/* Its first step, of the first `frames` frames. */
int checkpoint_write(struct ssl *ssl, enum ssl_reason reason, uint32_t frames);
int checkpoint_begin(struct ssl *ssl);
/* Its first step is done, and these frames are in it. */
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
/* A statement that writes, and of which the authorizer was asked nothing. */
void classify_unasked(struct ssl_stmt *statement);
/* Whether a function of this name answers the same again. */
bool classify_repeats(const char *function);
const char *skip_blanks(const char *sql);
bool has_word(const char *text, size_t size, const char *word);
bool begins_with(const char *sql, const char *word);
enum ssl_reason classify_text(const char *text, size_t size);
/* Whether a statement is to be logged: BEGIN and COMMIT are the record's own, and of what SQLite
 * calls read-only savepoints are. */
bool classify_writes(const char *sql, bool readonly);
void taint(struct ssl *ssl, enum ssl_reason reason);

/* schema.c */
int classify_schema(struct ssl *ssl);
void classify_free(struct ssl *ssl);
/* Watches for the largest rowid, once the schema is known. */
int schema_connect(struct ssl *ssl);

/* random.c */
int random_connect(struct ssl *ssl);
int64_t random_time(int64_t now);

#endif

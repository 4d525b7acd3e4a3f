/* Records a program's SQL statements with their values as a trace file, and copies each database
 * before its first write. The values are only in the calls of sqlite3_bind_… (bind.c); sqlite.c
 * detects statements and ends of transactions. Each transaction is written at its end, with one
 * write to a file shared by all processes of the command:
 *
 *   transaction SECONDS          since the recording began
 *   SECONDS "PATH" "SQL" VALUE…  each statement that changes something, and BEGIN, SAVEPOINT, …,
 *                                PRAGMA, ATTACH, DETACH; where it reads or writes an attached
 *                                file, `attached` stands before it
 *
 * A statement that failed is left out. The copies keep the databases' initial content. Without a
 * recording nothing is done here. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "../comments.h"
#include "clock.h"
#include "log.h"
#include "text.h"
#include "transactions.h"

/* sqlite3.h; these numbers never change */
enum { OK = 0, ROW = 100, DONE = 101 };

/* The state of a statement or connection, by its address. */
struct entry {
	struct entry *next;
	const void *of;
	struct text *values; /* of a statement: its parameters */
	int count;
	struct text text; /* of a statement: its line, while executing; of a connection: its
			   * transaction's lines */
	bool changes;	  /* it contains more than transaction control */
	bool attached;	  /* of a connection: it has used another file */
};

static struct entry *entries[256];

/* Returns the recording's folder, or NULL if nothing is recorded. */
static const char *folder(void)
{
	static _Atomic(const char *) found;
	static _Atomic bool looked;

	if (!looked) {
		found = getenv(RECORD_VARIABLE);
		looked = true;
	}
	return found;
}

bool record_is_on(void)
{
	return folder() != NULL;
}

/* In whole numbers: a program's locale may have no decimal point. */
static void add_seconds(struct text *text)
{
	uint64_t microseconds = clock_now() / 1000;

	text_print(text, "%" PRIu64 ".%06" PRIu64, microseconds / 1000000, microseconds % 1000000);
}

/* Returns the place of an entry, existing or new. Called with the lock. */
static struct entry **find_entry(const void *of)
{
	struct entry **place = &entries[((uintptr_t)of >> 4) % 256];

	while (*place != NULL && (*place)->of != of)
		place = &(*place)->next;
	return place;
}

/* Returns the entry; NULL without memory, or if it is new and `make` is false. */
static struct entry *entry_of(const void *of, bool make)
{
	struct entry **place, *found;

	lock_all();
	place = find_entry(of);
	if (*place == NULL && make && (*place = calloc(1, sizeof(**place))) != NULL)
		(*place)->of = of;
	found = *place;
	unlock_all();
	return found;
}

struct entry *record_take(const void *of)
{
	struct entry **place, *found;

	if (folder() == NULL)
		return NULL;
	lock_all();
	place = find_entry(of);
	found = *place;
	if (found != NULL)
		*place = found->next;
	unlock_all();
	return found;
}

void record_put(struct entry *entry)
{
	struct entry **place;

	if (entry == NULL)
		return;
	lock_all();
	place = find_entry(entry->of);
	entry->next = *place;
	*place = entry;
	unlock_all();
}

void record_free(struct entry *entry)
{
	if (entry == NULL)
		return;
	for (int i = 0; i < entry->count; i++)
		text_free(&entry->values[i]);
	free(entry->values);
	text_free(&entry->text);
	free(entry);
}

/* Marks the recording as incomplete, so that no trace is made from it. A full disk may lose the
 * mark's text, but not its name. */
static void incomplete(const char *path)
{
	char name[PATH_MAX];
	int error = errno, file;

	snprintf(name, sizeof(name), "%s/incomplete", folder());
	file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (file < 0 || dprintf(file, "%s: %s\n", path, strerror(error)) < 0)
		fprintf(stderr, "commitpath: %s: %s\n", path, strerror(error));
	if (file >= 0)
		close(file);
}

/* Copies a file's content. A file that does not exist is empty. */
static void copy(const char *from, int to)
{
	char part[65536];
	int file = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t size = 0;

	errno = file < 0 ? errno : 0;
	while (file >= 0 && (size = read(file, part, sizeof(part))) > 0)
		if (write(to, part, (size_t)size) != size) {
			errno = errno != 0 ? errno : ENOSPC; /* a short write has no errno */
			size = -1;
			break;
		}
	if (file < 0 ? errno != ENOENT : size < 0)
		incomplete(from);
	if (file >= 0)
		close(file);
}

/* Copies a database and its WAL to files of that name; the last file, with the path as a word of a
 * trace, shows that they are whole. */
static void copy_database(const char *path, const char *name)
{
	static const char *const suffixes[] = {"", "-wal", "-path"};

	for (int i = 0; i < 3; i++) {
		char to[PATH_MAX], from[PATH_MAX];
		int file;

		snprintf(to, sizeof(to), "%s%s", name, suffixes[i]);
		snprintf(from, sizeof(from), "%s%s", path, suffixes[i]);
		file = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (file < 0) {
			incomplete(to);
			return;
		}
		if (i < 2)
			copy(from, file);
		else if (write(file, path, strlen(path)) != (ssize_t)strlen(path))
			incomplete(to);
		close(file);
	}
}

/* Copies a database once for all threads and processes, which wait: a write of theirs would be in
 * the copy. */
static void keep(const char *path)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	char name[PATH_MAX - 8], whole[PATH_MAX];
	int lock;

	for (const char *at = path; *at != '\0'; at++)
		hash = (hash ^ (uint8_t)*at) * UINT64_C(1099511628211);
	snprintf(name, sizeof(name), "%s/%016" PRIx64, folder(), hash);
	snprintf(whole, sizeof(whole), "%s-path", name);
	if (access(whole, F_OK) == 0)
		return;
	lock = open(folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX) != 0)
		incomplete(folder());
	if (access(whole, F_OK) != 0)
		copy_database(path, name);
	if (lock < 0)
		return;
	/* a child of this process may have the descriptor, too */
	flock(lock, LOCK_UN);
	close(lock);
}

static bool begins_with(const char *sql, const char *const *words)
{
	for (; *words != NULL; words++)
		if (begins_with_word(sql, *words))
			return true;
	return false;
}

/* Returns whether a statement may use a file attached to the connection: its program begins a
 * transaction of a database other than main and temp, or cannot be explained. */
static bool of_attached(struct library *sqlite, sqlite3 *db, const char *sql)
{
	struct text text = {0};
	sqlite3_stmt *program = NULL;
	bool found = false;
	int result;

	text_add(&text, "EXPLAIN ", 8);
	text_add(&text, sql, strlen(sql) + 1);
	if (text.failed || sqlite->prepare_v2(db, text.data, -1, &program, NULL) != OK) {
		text_free(&text);
		return true;
	}
	while ((result = sqlite->step(program)) == ROW) {
		const char *operation = sqlite->column_text(program, 1);

		found |= operation != NULL && strcmp(operation, "Transaction") == 0 &&
			 sqlite->column_int(program, 2) > 1;
	}
	sqlite->finalize(program);
	text_free(&text);
	return found || result != DONE;
}

/* Records a statement and its values, before the step that begins it. */
static void take_down(struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement)
{
	static const char *const controls[] = {"begin",	    "commit",  "end", "rollback",
					       "savepoint", "release", NULL};
	/* SQLite calls them read-only, but they change what is written, or where */
	static const char *const settings[] = {"pragma", "attach", "detach", NULL};
	static const char *const attaches[] = {"attach", NULL};
	const char *sql = sqlite->sql(statement), *path = sqlite->db_filename(db, "main"), *word;
	struct entry *entry, *of;
	bool control, setting;

	if (!sqlite->has_recorded || sql == NULL || path == NULL || path[0] == '\0' ||
	    sqlite->stmt_busy(statement))
		return;
	word = skip_comments(sql);
	control = begins_with(word, controls);
	setting = begins_with(word, settings);
	if (!control && !setting && sqlite->stmt_readonly(statement))
		return;
	entry = entry_of(statement, true);
	of = entry_of(db, true);
	if (entry == NULL || of == NULL)
		return;
	keep(path);
	text_clear(&entry->text);
	entry->changes = !control;
	if (of->attached && !control && !setting && of_attached(sqlite, db, sql))
		text_print(&entry->text, "attached ");
	of->attached |= begins_with(word, attaches);
	add_seconds(&entry->text);
	text_string(&entry->text, path, strlen(path));
	text_string(&entry->text, sql, strlen(sql));
	for (int i = 0; i < sqlite->bind_parameter_count(statement); i++)
		if (i < entry->count && entry->values[i].size > 0)
			text_add(&entry->text, entry->values[i].data, entry->values[i].size);
		else
			text_null(&entry->text);
	text_add(&entry->text, "\n", 1);
}

static void write_transaction(const struct text *text)
{
	char name[PATH_MAX];
	struct text all = {0};
	int file;

	snprintf(name, sizeof(name), "%s/transactions", folder());
	file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	text_print(&all, "transaction ");
	add_seconds(&all);
	text_print(&all, "\n");
	text_add(&all, text->data, text->size);
	if (file >= 0)
		errno = text->failed || all.failed ? ENOMEM
						   : ENOSPC; /* a short write has no errno */
	if (file < 0 || text->failed || all.failed ||
	    write(file, all.data, all.size) != (ssize_t)all.size)
		incomplete(name);
	if (file >= 0)
		close(file);
	text_free(&all);
}

void record_begin(struct recorded *call, struct library *sqlite, sqlite3 *db,
		  sqlite3_stmt *statement)
{
	if (folder() == NULL)
		return;
	if (call->finalizes)
		call->statement = record_take(statement);
	if (call->steps)
		take_down(sqlite, db, statement);
	if (call->closes) {
		call->connection = record_take(db);
		call->autocommit = sqlite->get_autocommit(db);
	}
}

/* Adds the line of a statement that was executed to the transaction of its connection. */
static void add_line(struct entry *of, struct entry *entry, int result)
{
	if (result == OK || result == ROW || result == DONE) {
		text_add(&of->text, entry->text.data, entry->text.size);
		of->text.failed |= entry->text.failed;
		of->changes |= entry->changes;
	}
	text_clear(&entry->text);
}

void record_end(struct recorded *call, struct library *sqlite, sqlite3 *db, sqlite3_stmt *statement,
		int result)
{
	struct entry *entry, *of;
	bool has_line;

	if (folder() == NULL)
		return;
	entry = call->finalizes ? call->statement : entry_of(statement, false);
	has_line = entry != NULL && entry->text.size > 0;
	of = call->closes ? call->connection : entry_of(db, has_line);
	if (of != NULL && has_line)
		add_line(of, entry, result);
	if (of != NULL && of->text.size > 0 && result != ROW &&
	    (call->closes ? call->autocommit : sqlite->get_autocommit(db))) {
		if (of->changes)
			write_transaction(&of->text);
		text_clear(&of->text);
		of->changes = false;
	}
	if (call->finalizes)
		record_free(call->statement);
	if (call->closes)
		record_free(call->connection);
}

struct text *record_value(sqlite3_stmt *statement, int index)
{
	struct entry *entry = folder() != NULL ? entry_of(statement, true) : NULL;

	if (entry == NULL || index < 1)
		return NULL;
	if (index > entry->count) {
		struct text *more = realloc(entry->values, (size_t)index * sizeof(*more));

		if (more == NULL)
			return NULL;
		memset(more + entry->count, 0, (size_t)(index - entry->count) * sizeof(*more));
		entry->values = more;
		entry->count = index;
	}
	text_clear(&entry->values[index - 1]);
	return &entry->values[index - 1];
}

void record_clear(sqlite3_stmt *statement)
{
	struct entry *entry = folder() != NULL ? entry_of(statement, false) : NULL;

	for (int i = 0; entry != NULL && i < entry->count; i++)
		text_clear(&entry->values[i]);
}

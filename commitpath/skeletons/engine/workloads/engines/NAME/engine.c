/* {{NAME}}: an example that keeps rows of one size in a flat file, the row of key K at place K.
 *
 * The file begins with the size of a value. A slot is one byte, 1 where a row is there, and the
 * value. A batch is not atomic: a crash may leave a part of it.
 *
 * Replace the bodies of the hooks, which ../../engine.h specifies. Each is marked `required` or
 * `optional`; the omitted ones are listed at the end. */
#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state of an open database: whatever the engine needs. */
struct database {
	int file;
	bool sync;
	int64_t value_size;
	size_t slot; /* bytes */
	unsigned char *rendered, *row;
	size_t size, capacity; /* of `rendered` */
};

/* A rendered operation; its value follows. model/engines/{{NAME}}.py reads and writes the same. The
 * first byte is not '\n', which ends a transaction in the stored file. */
struct head {
	uint32_t kind, size;
	int64_t key;
};

static bool failed(const char *call, struct error *error)
{
	return error_set(error, "%s: %s", call, strerror(errno));
}

static off_t place(const struct database *database, int64_t key)
{
	return (off_t)sizeof(database->value_size) + (off_t)key * (off_t)database->slot;
}

static bool write_at(struct database *database, const void *data, size_t size, off_t offset,
		     struct error *error)
{
	ssize_t written = pwrite(database->file, data, size, offset);

	if (written < 0)
		return failed("pwrite", error);
	return (size_t)written == size || error_set(error, "pwrite: only %zd bytes", written);
}

/* Reads the slot of a key into `row`; no row exists behind the end of the file. */
static bool read_slot(struct database *database, int64_t key, bool *exists, struct error *error)
{
	ssize_t size = pread(database->file, database->row, database->slot, place(database, key));

	if (size < 0)
		return failed("pread", error);
	*exists = size > 0 && database->row[0] == 1;
	return !*exists || (size_t)size == database->slot ||
	       error_set(error, "row %" PRId64 " is cut off", key);
}

/* ---- Settings: optional. Each is set by an axis (experiments/engine/{{NAME}}.yml). */

enum { SYNC };
static const char *const sync_levels[] = {"off", "full", NULL};
static const struct option settings[] = {
	{SETTING("sync", "sync", SYNC), WORD("LEVEL", sync_levels),
	 .help = "whether a transaction is synced before it returns"},
	{.name = NULL},
};

/* Required with settings: the value in effect, read back from the engine if possible. */
static bool read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	(void)index;
	(void)error;
	strncpy(answer, sync_levels[database->sync], size - 1);
	answer[size - 1] = '\0';
	return true;
}

/* ---- Release: required. */

#define VERSION "1"

static const char *title(void)
{
	return "{{NAME}} " VERSION;
}

static void write_version(struct json *json)
{
	json_begin(json, engine.name, '{');
	json_text(json, "version", VERSION);
	json_end(json, '}');
}

/* ---- Databases: required. */

static void drop(struct database *database)
{
	if (database->file >= 0)
		close(database->file);
	free(database->rendered);
	free(database->row);
	free(database);
}

/* Writes the size of a value into a new file, or compares it with the size in an old one. */
static bool begin(struct database *database, bool is_new, struct error *error)
{
	int64_t size = database->value_size;

	if (is_new)
		return write_at(database, &size, sizeof(size), 0, error);
	if (pread(database->file, &size, sizeof(size), 0) != (ssize_t)sizeof(size))
		return error_set(error, "the database has no beginning");
	return size == database->value_size ||
	       error_set(error, "a row has a value of %" PRId64 " bytes, --value-size is %" PRId64,
			 size, database->value_size);
}

static struct database *open_database(const char *path, size_t number,
				      const struct options *options,
				      const struct workload *workload, enum engine_use use,
				      struct error *error)
{
	size_t batch = workload_batch(workload, options);
	int flags = use == ENGINE_CREATE ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
	struct database *database = calloc(1, sizeof(*database));

	(void)number; /* of an engine with SQL there may be several databases */
	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->sync = use == ENGINE_RUN && options->settings[SYNC] != 0;
	database->value_size = options->value_size;
	database->slot = 1 + (size_t)options->value_size;
	database->capacity = batch * (sizeof(struct head) + (size_t)options->value_size);
	database->rendered = calloc(1, database->capacity);
	database->row = calloc(1, database->slot);
	database->file = open(path, flags, 0644);
	if (database->file < 0)
		error_set(error, "opening %s: %s", path, strerror(errno));
	else if (database->rendered == NULL || database->row == NULL)
		error_set(error, "opening %s: no memory", path);
	else if (begin(database, use == ENGINE_CREATE, error))
		return database;
	drop(database);
	return NULL;
}

static bool close_database(struct database *database, struct error *error)
{
	bool closed = fsync(database->file) == 0 || failed("fsync", error);

	drop(database);
	return closed;
}

static bool remove_database(const char *path, struct error *error)
{
	return unlink(path) == 0 || errno == ENOENT || failed("unlink", error);
}

/* ---- Transactions: required. */

/* Not timed. The result is stored with the run and compared with the timed operations. */
static bool render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error)
{
	unsigned char *end = database->rendered;

	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &transaction->operations[i];
		struct head head = {operation->kind, (uint32_t)operation->size, operation->key};

		if (operation->kind >= KEY_OPERATIONS || operation->kind == OPERATION_SCAN)
			return error_set(error, "%s has no operation of kind %s", title(),
					 operation_traits[operation->kind].word);
		if (operation->key < 0 ||
		    (operation->size > 0 && (int64_t)operation->size != database->value_size))
			return error_set(error, "no row can have the key %" PRId64 " and %zu bytes",
					 operation->key, operation->size);
		memcpy(end, &head, sizeof(head));
		end += sizeof(head);
		if (operation->size > 0)
			memcpy(end, operation->data, operation->size);
		end += operation->size;
	}
	database->size = (size_t)(end - database->rendered);
	*rendered = (struct rendered){database->rendered, database->size};
	return true;
}

static bool apply(struct database *database, const struct head *head, const unsigned char *value,
		  struct outcome *outcome, struct error *error)
{
	bool exists;

	if (operation_traits[head->kind].reads) {
		if (!read_slot(database, head->key, &exists, error))
			return false;
		outcome->rows += exists;
		outcome->bytes += exists ? database->value_size : 0;
	}
	if (!operation_traits[head->kind].mutates)
		return true;
	memset(database->row, 0, database->slot);
	if (head->kind != OPERATION_DELETE) {
		database->row[0] = 1;
		memcpy(database->row + 1, value, head->size);
	}
	/* It writes without reading: of an update or a delete it does not know what changed. */
	if (head->kind != OPERATION_INSERT)
		outcome->changes = CHANGES_UNKNOWN;
	else if (outcome->changes != CHANGES_UNKNOWN)
		outcome->changes++;
	return write_at(database, database->row, database->slot, place(database, head->key), error);
}

/* Timed: its return is the acknowledgement. */
static bool commit(struct database *database, struct outcome *outcome, struct error *error)
{
	const unsigned char *next = database->rendered, *end = next + database->size;
	bool writes = false;

	while (next < end) {
		struct head head;

		memcpy(&head, next, sizeof(head));
		next += sizeof(head);
		if (!apply(database, &head, next, outcome, error))
			return false;
		writes |= operation_traits[head.kind].mutates;
		next += head.size;
	}
	return !writes || !database->sync || fdatasync(database->file) == 0 ||
	       failed("fdatasync", error);
}

/* ---- Reading all rows: each and scan are required, last_key optional. */

static bool each(struct database *database, each_row *row, void *context, struct error *error)
{
	struct stat status;
	bool exists;

	if (fstat(database->file, &status) != 0)
		return failed("fstat", error);
	for (int64_t key = 0; place(database, key) < status.st_size; key++)
		if (!read_slot(database, key, &exists, error) ||
		    (exists &&
		     !row(context, key, database->row + 1, (size_t)database->value_size, error)))
			return false;
	return true;
}

static bool count_row(void *context, int64_t key, const void *value, size_t size,
		      struct error *error)
{
	int64_t *rows = context;

	(void)key;
	(void)value;
	(void)size;
	(void)error;
	++*rows;
	return true;
}

/* All values have the same size. */
static bool scan(struct database *database, int64_t *rows, struct error *error)
{
	*rows = 0;
	return each(database, count_row, rows, error);
}

static bool keep_key(void *context, int64_t key, const void *value, size_t size,
		     struct error *error)
{
	int64_t *last = context;

	(void)value;
	(void)size;
	(void)error;
	*last = key;
	return true;
}

static bool last_key(struct database *database, int64_t *key, struct error *error)
{
	*key = 0;
	return each(database, keep_key, key, error);
}

/* ---- Sizes of its files by role: optional. The roles are those of FILES in the model. */

static size_t file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	struct stat status;

	sizes[0] = (struct file_size){"database", stat(path, &status) == 0 ? status.st_size : 0};
	return 1;
}

/* Optional hooks that are left out: has_sql, maps_files, file_roles, print_version,
 * create_tables, load, maintain, count, read_properties, write_properties, log_prepare, log_begin,
 * log_end. */
const struct engine engine = {
	.name = "{{NAME}}",		/* required: the folder's name */
	.settings = settings,		/* optional */
	.title = title,			/* required */
	.open = open_database,		/* required */
	.close = close_database,	/* required */
	.remove = remove_database,	/* required */
	.render = render,		/* required */
	.commit = commit,		/* required */
	.scan = scan,			/* required */
	.each = each,			/* required without SQL */
	.last_key = last_key,		/* optional: for workloads that ask for it */
	.read_setting = read_setting,	/* required with settings */
	.write_version = write_version, /* required */
	.file_sizes = file_sizes,	/* optional */
};

/* LevelDB through its C interface: a database is a folder. Keys are eight bytes, the largest first,
 * so that their order is that of the numbers.
 *
 * An update or a delete of a key that is not there changes nothing, as in SQL; LevelDB does not
 * know, so the key is read first. */
#include "engine.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include <leveldb/c.h>

const char engine_name[] = "leveldb";
const bool engine_has_sql = false;

/* Numbers in engine_settings. */
enum { SYNC };

static const char *const sync_levels[] = {"off", "full", NULL};

const struct option engine_settings[] = {
	{.name = "sync",
	 .key = "sync",
	 .argument = "LEVEL",
	 SETTING(SYNC),
	 .help = "WriteOptions::sync: whether a write is synced before it returns",
	 .kind = OPTION_WORD,
	 .words = sync_levels,
	 .section = SECTION_REQUESTED,
	 .commands = COMMAND_RUN},
};
const size_t engine_setting_count = sizeof(engine_settings) / sizeof(engine_settings[0]);

/* Its calls are not logged. */
const char *const engine_file_roles[] = {NULL};

enum role { LOG, TABLE, MANIFEST, OTHER, ROLES };
static const char *const roles[] = {"log", "table", "manifest", "other"};

/* How an operation is rendered; its value follows. */
struct head {
	unsigned char kind;
	unsigned char key[sizeof(uint64_t)];
	unsigned char size[sizeof(uint32_t)]; /* of the value, the largest byte first */
};

/* Bytes of rows that are loaded as one batch. */
enum { LOAD_BYTES = 1 << 20 };

struct database {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *read;
	leveldb_writeoptions_t *write;
	leveldb_writebatch_t *batch;
	enum engine_use use;
	int64_t value_size, sync;
	size_t loaded; /* bytes in the batch */
	unsigned char *buffer;
	size_t size, capacity; /* of what is rendered */
};

static const char *const properties[] = {
	"num-files-at-level0", "num-files-at-level1", "num-files-at-level2", "num-files-at-level3",
	"num-files-at-level4", "num-files-at-level5", "num-files-at-level6",
};
#define PROPERTY_COUNT (sizeof(properties) / sizeof(properties[0]))
static char property_values[PROPERTY_COUNT][24];

const char *engine_title(void)
{
	static char title[64];

	snprintf(title, sizeof(title), "LevelDB %d.%d", leveldb_major_version(),
		 leveldb_minor_version());
	return title;
}

void engine_print_version(void)
{
	puts(engine_title());
}

void engine_write_version(struct json *json)
{
	json_begin(json, engine_name, '{');
	json_text(json, "version", strchr(engine_title(), ' ') + 1);
	json_end(json, '}');
}

/* Whether LevelDB had an error; says which, and frees its text. */
static bool failed(const char *operation, char *said, struct error *error)
{
	if (said == NULL)
		return false;
	error_set(error, "%s failed: %s", operation, said);
	leveldb_free(said);
	return true;
}

static void encode(unsigned char *bytes, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)(number >> 8 * (size - 1 - i));
}

static uint64_t decode(const unsigned char *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | bytes[i];
	return number;
}

static void drop(struct database *database)
{
	if (database->db != NULL)
		leveldb_close(database->db);
	leveldb_options_destroy(database->options);
	leveldb_readoptions_destroy(database->read);
	leveldb_writeoptions_destroy(database->write);
	leveldb_writebatch_destroy(database->batch);
	free(database->buffer);
	free(database);
}

/* Compacts a range that no key is in, which takes until the compaction that is under way is done.
 */
static void compact_nothing(leveldb_t *db)
{
	static const char key[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff";

	leveldb_compact_range(db, key, sizeof(key) - 1, key, sizeof(key) - 1);
}

/* What a database is opened with, and what came of it. */
struct opening {
	const leveldb_options_t *options;
	const char *path;
	leveldb_t *db;
	char *said;
};

/* LevelDB starts a thread of its own with its first compaction, which takes its name from who
 * starts it: observers watch threads by the driver's name, and it is none of those. So a thread of
 * another name starts it, by a compaction of keys that nobody has. */
static void *open_named(void *argument)
{
	struct opening *opening = argument;

	prctl(PR_SET_NAME, engine_name);
	opening->db = leveldb_open(opening->options, opening->path, &opening->said);
	if (opening->db != NULL)
		compact_nothing(opening->db);
	return NULL;
}

struct database *engine_open(const char *path, const struct options *options,
			     const struct workload *workload, enum engine_use use,
			     struct error *error)
{
	size_t batch = workload->batch > 0 ? workload->batch : 1;
	struct database *database = calloc(1, sizeof(*database));
	struct opening opening = {.path = path};
	pthread_t opener;
	int result;

	if (database == NULL) {
		error_set(error, "opening %s: no memory", path);
		return NULL;
	}
	database->use = use;
	database->value_size = options->value_size;
	database->options = leveldb_options_create();
	opening.options = database->options;
	database->read = leveldb_readoptions_create();
	database->write = leveldb_writeoptions_create();
	database->batch = leveldb_writebatch_create();
	leveldb_options_set_create_if_missing(database->options, use == ENGINE_CREATE);
	leveldb_options_set_error_if_exists(database->options, use == ENGINE_CREATE);
	/* A workload's value stands for bytes that do not compress, and is one letter repeated. */
	leveldb_options_set_compression(database->options, leveldb_no_compression);
	if (use == ENGINE_RUN) {
		database->sync = options->settings[SYNC];
		leveldb_writeoptions_set_sync(database->write, (uint8_t)database->sync);
	}
	database->capacity = batch * (sizeof(struct head) + (size_t)options->value_size);
	database->buffer = malloc(database->capacity);
	if (database->buffer == NULL) {
		error_set(error, "no memory for a transaction of %zu bytes", database->capacity);
		drop(database);
		return NULL;
	}
	memset(database->buffer, 0xff, database->capacity);
	result = pthread_create(&opener, NULL, open_named, &opening);
	if (result != 0) {
		error_set(error, "opening %s: no thread: %s", path, strerror(result));
		drop(database);
		return NULL;
	}
	pthread_join(opener, NULL);
	database->db = opening.db;
	if (failed("opening the database", opening.said, error)) {
		drop(database);
		return NULL;
	}
	return database;
}

/* Writes the rows that are loaded. */
static bool write_loaded(struct database *database, struct error *error)
{
	char *said = NULL;

	leveldb_write(database->db, database->write, database->batch, &said);
	leveldb_writebatch_clear(database->batch);
	database->loaded = 0;
	return !failed("writing rows", said, error);
}

bool engine_close(struct database *database, struct error *error)
{
	bool closed = true;

	if (database->use == ENGINE_CREATE) {
		closed = write_loaded(database, error);
		/* What is written to a table is synced; and the run begins with no compaction
		 * due. */
		if (closed)
			leveldb_compact_range(database->db, NULL, 0, NULL, 0);
	} else if (database->use == ENGINE_RUN) {
		/* A table that is half written would be dropped, and the next open do it again. */
		compact_nothing(database->db);
	}
	drop(database);
	return closed;
}

bool engine_remove(const char *path, struct error *error)
{
	leveldb_options_t *options;
	struct stat status;
	char *said = NULL;

	if (stat(path, &status) != 0)
		return errno == ENOENT ||
		       error_set(error, "removing %s: %s", path, strerror(errno));
	options = leveldb_options_create();
	leveldb_destroy_db(options, path, &said);
	leveldb_options_destroy(options);
	return !failed("removing the database", said, error);
}

bool engine_create_tables(struct database *database, struct error *error)
{
	/* Keys need none. */
	(void)database;
	(void)error;
	return true;
}

bool engine_load(struct database *database, const struct transaction *transaction,
		 struct error *error)
{
	const struct operation *row = transaction->operations;
	unsigned char key[sizeof(uint64_t)];

	encode(key, (uint64_t)row->key, sizeof(key));
	leveldb_writebatch_put(database->batch, (char *)key, sizeof(key), row->data, row->size);
	database->loaded += row->size;
	return database->loaded < LOAD_BYTES || write_loaded(database, error);
}

bool engine_render(struct database *database, const struct transaction *transaction,
		   struct rendered *rendered, struct error *error)
{
	unsigned char *end = database->buffer;

	for (size_t i = 0; i < transaction->count; i++) {
		const struct operation *operation = &transaction->operations[i];
		struct head head = {.kind = (unsigned char)operation->kind};

		if ((size_t)(end - database->buffer) + sizeof(head) + operation->size >
		    database->capacity)
			return error_set(error, "a transaction is longer than %zu bytes",
					 database->capacity);
		encode(head.key, (uint64_t)operation->key, sizeof(head.key));
		encode(head.size, operation->size, sizeof(head.size));
		memcpy(end, &head, sizeof(head));
		end += sizeof(head);
		if (operation->size > 0)
			memcpy(end, operation->data, operation->size);
		end += operation->size;
	}
	database->size = (size_t)(end - database->buffer);
	*rendered = (struct rendered){database->buffer, database->size};
	return true;
}

/* Reads a key; `found` gets whether it is there. */
static bool look_up(const struct database *database, const struct head *head, bool *found,
		    struct error *error)
{
	char *said = NULL, *value;
	size_t size;

	value = leveldb_get(database->db, database->read, (const char *)head->key,
			    sizeof(head->key), &size, &said);
	if (failed("reading a key", said, error))
		return false;
	*found = value != NULL;
	leveldb_free(value);
	return true;
}

/* Puts an operation into the batch, if it changes anything. */
static bool apply(struct database *database, const struct head *head, const unsigned char *value,
		  size_t size, int32_t *changes, struct error *error)
{
	bool found;

	if (head->kind != OPERATION_INSERT) {
		if (!look_up(database, head, &found, error))
			return false;
		if (head->kind == OPERATION_READ || !found)
			return true;
	}
	if (head->kind == OPERATION_DELETE)
		leveldb_writebatch_delete(database->batch, (const char *)head->key,
					  sizeof(head->key));
	else
		leveldb_writebatch_put(database->batch, (const char *)head->key, sizeof(head->key),
				       (const char *)value, size);
	++*changes;
	return true;
}

bool engine_commit(struct database *database, int32_t *changes, struct error *error)
{
	const unsigned char *next = database->buffer, *end = next + database->size;
	char *said = NULL;

	*changes = 0;
	leveldb_writebatch_clear(database->batch);
	while (next < end) {
		const struct head *head = (const struct head *)next;
		size_t size = decode(head->size, sizeof(head->size));

		next += sizeof(*head);
		if (!apply(database, head, next, size, changes, error))
			return false;
		next += size;
	}
	if (*changes == 0)
		return true;
	leveldb_write(database->db, database->write, database->batch, &said);
	return !failed("writing a batch", said, error);
}

bool engine_maintain(struct database *database, struct error *error)
{
	(void)error;
	leveldb_compact_range(database->db, NULL, 0, NULL, 0);
	return true;
}

/* Goes through all rows; `check` says whether their values' sizes are. */
static bool go_through(struct database *database, bool check, int64_t *rows, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *said = NULL;
	bool good = true;

	*rows = 0;
	for (leveldb_iter_seek_to_first(row); good && leveldb_iter_valid(row);
	     leveldb_iter_next(row)) {
		size_t size;

		leveldb_iter_value(row, &size);
		if (check && (int64_t)size != database->value_size)
			good = error_set(error,
					 "row %" PRId64 " has a value of %zu bytes, --value-size "
					 "is %" PRId64,
					 *rows + 1, size, database->value_size);
		++*rows;
	}
	if (good) {
		leveldb_iter_get_error(row, &said);
		good = !failed("reading all rows", said, error);
	}
	leveldb_iter_destroy(row);
	return good;
}

bool engine_scan(struct database *database, int64_t *rows, struct error *error)
{
	return go_through(database, true, rows, error);
}

bool engine_count(struct database *database, int64_t *rows, struct error *error)
{
	return go_through(database, false, rows, error);
}

bool engine_last_key(struct database *database, int64_t *key, struct error *error)
{
	leveldb_iterator_t *row = leveldb_create_iterator(database->db, database->read);
	char *said = NULL;
	size_t size;

	leveldb_iter_seek_to_last(row);
	*key = 0;
	if (leveldb_iter_valid(row))
		*key = (int64_t)decode((const unsigned char *)leveldb_iter_key(row, &size),
				       sizeof(uint64_t));
	leveldb_iter_get_error(row, &said);
	leveldb_iter_destroy(row);
	return !failed("reading the last key", said, error);
}

/* LevelDB cannot be asked: it is what its options were set to. */
bool engine_read_setting(struct database *database, size_t index, char *answer, size_t size,
			 struct error *error)
{
	(void)error;
	snprintf(answer, size, "%s", engine_settings[index].words[database->sync]);
	return true;
}

bool engine_read_properties(struct database *database, struct error *error)
{
	char name[64], *value;

	for (size_t i = 0; i < PROPERTY_COUNT; i++) {
		snprintf(name, sizeof(name), "leveldb.%s", properties[i]);
		value = leveldb_property_value(database->db, name);
		if (value == NULL)
			return error_set(error, "%s has no property %s", engine_title(), name);
		snprintf(property_values[i], sizeof(property_values[i]), "%s", value);
		leveldb_free(value);
	}
	return true;
}

void engine_write_properties(struct json *json)
{
	json_begin(json, "properties", '{');
	json_text(json, "compression", "none");
	for (size_t i = 0; i < PROPERTY_COUNT; i++)
		json_text(json, properties[i], property_values[i]);
	json_end(json, '}');
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length >= size && strcmp(name + length - size, end) == 0;
}

/* By the names that LevelDB's filename.cc gives. */
static enum role role_of(const char *name)
{
	if (ends_with(name, ".log"))
		return LOG;
	if (ends_with(name, ".ldb") || ends_with(name, ".sst"))
		return TABLE;
	return strncmp(name, "MANIFEST-", strlen("MANIFEST-")) == 0 ? MANIFEST : OTHER;
}

size_t engine_file_sizes(const char *path, struct file_size sizes[MAX_FILE_SIZES])
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	for (size_t i = 0; i < ROLES; i++)
		sizes[i] = (struct file_size){roles[i], 0};
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		char name[PATH_MAX];
		struct stat status;

		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
			sizes[role_of(entry->d_name)].bytes += status.st_size;
	}
	if (folder != NULL)
		closedir(folder);
	return ROLES;
}

bool engine_log_prepare(size_t transactions, struct error *error)
{
	(void)transactions;
	return error_set(error, "--vfs-log: %s has no log of its calls", engine_title());
}

void engine_log_begin(void)
{
}

void engine_log_end(void)
{
}

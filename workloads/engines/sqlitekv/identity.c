/* Checks that a folder has a LevelDB database, and one of sqlitekv in its present format; writes a
 * key that identifies a new one. */
#include "kv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The first key of a database: sorts before all others. */
static const unsigned char identity_key[] = {0};
static const char identity_name[] = "sqlitekv ", identity_format[] = "1";

/* Names that LevelDB gives (its filename.cc). */
static bool is_of_leveldb(const char *name)
{
	static const char *const whole[] = {".", "..", "CURRENT", "LOCK", "LOG", "LOG.old", "lost"};
	static const char *const ends[] = {".log", ".ldb", ".sst", ".dbtmp"};
	size_t digits = strspn(name, "0123456789");

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	if (strncmp(name, "MANIFEST-", 9) == 0)
		return name[9] != '\0' && name[9 + strspn(name + 9, "0123456789")] == '\0';
	for (size_t i = 0; digits > 0 && i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(name + digits, ends[i]) == 0)
			return true;
	return false;
}

/* The first key of a file with keys. */
enum content { NOT_OF_KEYS, NOTHING, IDENTITY, OTHER };

/* The database's own key is the first one that is written, and the smallest: a log or a table
 * begins with it, after LevelDB's heads (its log_format.md and table_format.md). */
static enum content content_of(DIR *folder, const char *name)
{
	static const char in_log[] = "\1\1\0\nsqlitekv ", in_table[] = {0, 9, 10, 0};
	static const char nothing[64];
	enum { LOG_HEADS = 19, TABLE_HEADS = 12 };
	const char *end = strrchr(name, '.');
	bool is_log = end != NULL && strcmp(end, ".log") == 0;
	char start[64];
	ssize_t size;
	size_t rest;
	int file;

	if (!is_log && (end == NULL || (strcmp(end, ".ldb") != 0 && strcmp(end, ".sst") != 0)))
		return NOT_OF_KEYS;
	file = openat(dirfd(folder), name, O_RDONLY | O_CLOEXEC);
	size = file < 0 ? 0 : read(file, start, sizeof(start));
	if (file >= 0)
		close(file);
	if (size <= LOG_HEADS || memcmp(start, nothing, (size_t)size) == 0)
		return NOTHING;
	rest = (size_t)size - LOG_HEADS;
	if (is_log) /* a power failure may have cut it off */
		return memcmp(start + LOG_HEADS, in_log,
			      rest < sizeof(in_log) - 1 ? rest : sizeof(in_log) - 1) == 0
			       ? IDENTITY
			       : OTHER;
	return memcmp(start, in_table, sizeof(in_table)) == 0 &&
			       memcmp(start + TABLE_HEADS, identity_name, strlen(identity_name)) ==
				       0
		       ? IDENTITY
		       : OTHER;
}

/* LevelDB would add its files to those of another program, and rewrites those of a database when it
 * opens it: without a change, only the files can be looked at. */
int identity_check_folder(const char *path, bool create, char **message)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool has_current = false, has_identity = false, has_other = false;
	char keys[NAME_MAX + 1] = "";
	int result = SQLITE_OK;

	if (folder == NULL)
		return kv_fail(message, SQLITE_CANTOPEN, "%s: %s", path, strerror(errno));
	while (result == SQLITE_OK && (entry = readdir(folder)) != NULL) {
		enum content content = content_of(folder, entry->d_name);

		has_identity = has_identity || content == IDENTITY;
		has_other = has_other || content == OTHER;
		if (content != NOT_OF_KEYS)
			strcpy(keys, entry->d_name);
		has_current = has_current || strcmp(entry->d_name, "CURRENT") == 0;
		if (!is_of_leveldb(entry->d_name))
			result = kv_fail(message, SQLITE_NOTADB,
					 "%s is not a LevelDB database: it has the file %s", path,
					 entry->d_name);
	}
	closedir(folder);
	if (result == SQLITE_OK && !has_current && !create)
		result = kv_fail(message, SQLITE_NOTFOUND, "%s has no LevelDB database", path);
	else if (result == SQLITE_OK && !has_current && keys[0] != '\0')
		result = kv_fail(message, SQLITE_NOTADB,
				 "%s is not a LevelDB database: it has the file %s", path, keys);
	else if (result == SQLITE_OK && has_other && !has_identity)
		result = kv_fail(message, SQLITE_NOTADB,
				 "%s is a LevelDB database of another program", path);
	return result;
}

static int write_identity(struct store *store, char **message)
{
	char *error = NULL, value[sizeof(identity_name) + sizeof(identity_format)];

	strcpy(value, identity_name);
	strcat(value, identity_format);
	leveldb_put(store->db, store->write, (const char *)identity_key, sizeof(identity_key),
		    value, strlen(value), &error);
	return store_error(store->path, error, message);
}

int identity_check(struct store *store, bool create, char **message)
{
	leveldb_iterator_t *first = leveldb_create_iterator(store->db, store->read);
	size_t name = strlen(identity_name), key_size, size;
	const char *key, *value;
	char *error = NULL;
	int result;

	leveldb_iter_seek_to_first(first);
	leveldb_iter_get_error(first, &error);
	result = store_error(store->path, error, message);
	if (result == SQLITE_OK && !leveldb_iter_valid(first)) {
		result = create ? write_identity(store, message)
				: kv_fail(message, SQLITE_NOTADB, "%s has no tables of sqlitekv",
					  store->path);
	} else if (result == SQLITE_OK) {
		key = leveldb_iter_key(first, &key_size);
		value = leveldb_iter_value(first, &size);
		if (key_size != sizeof(identity_key) || *key != 0 || size < name ||
		    memcmp(value, identity_name, name) != 0)
			result =
				kv_fail(message, SQLITE_NOTADB,
					"%s is a LevelDB database of another program", store->path);
		else if (size != name + strlen(identity_format) ||
			 memcmp(value + name, identity_format, size - name) != 0)
			result = kv_fail(message, SQLITE_ERROR,
					 "%s has format %.*s of sqlitekv; this one reads format %s",
					 store->path, size - name > 20 ? 20 : (int)(size - name),
					 value + name, identity_format);
	}
	leveldb_iter_destroy(first);
	return result;
}

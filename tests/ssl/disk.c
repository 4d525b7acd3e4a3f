#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite3.h"

enum { FILES = 16, SECTOR = 512, WORD = 8, REGIONS = 64 };

struct data {
	uint8_t *bytes;
	int64_t size, room;
};

/* What was written, or, without bytes, a truncation. */
struct change {
	struct change *next;
	uint8_t *bytes;
	int64_t offset, size;
};

struct entry {
	char name[64];
	bool there, durable_name; /* the name; on the disk */
	struct data now, durable;
	struct change *changes, **last;
	void *shared[REGIONS];
};

struct file {
	sqlite3_file base;
	struct entry *entry;
	struct data own; /* of a temporary file */
	bool creates;
};

static struct entry entries[FILES];
static int64_t calls, cut_at, fault_at, allocations;
static enum fault fault;
static bool is_cut, has_failed, armed, is_paused;
static uint64_t state;

static uint64_t next_random(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static void put(struct data *data, const void *bytes, int64_t size, int64_t offset)
{
	if (offset + size > data->room) {
		data->room = (offset + size) * 2;
		data->bytes = realloc(data->bytes, (size_t)data->room);
	}
	if (offset > data->size)
		memset(data->bytes + data->size, 0, (size_t)(offset - data->size));
	memcpy(data->bytes + offset, bytes, (size_t)size);
	if (offset + size > data->size)
		data->size = offset + size;
}

static void cut_data(struct data *data, int64_t size)
{
	static const uint8_t zero;

	if (size > data->size)
		put(data, &zero, 1, size - 1);
	data->size = size;
}

static void copy_data(struct data *to, const struct data *from)
{
	to->size = 0;
	if (from->size > 0)
		put(to, from->bytes, from->size, 0);
}

static void drop_changes(struct entry *entry)
{
	while (entry->changes != NULL) {
		struct change *change = entry->changes;

		entry->changes = change->next;
		free(change->bytes);
		free(change);
	}
	entry->last = &entry->changes;
}

static void drop_shared(struct entry *entry)
{
	for (int i = 0; i < REGIONS; i++) {
		free(entry->shared[i]);
		entry->shared[i] = NULL;
	}
}

static void note(struct entry *entry, const void *bytes, int64_t size, int64_t offset)
{
	struct change *change = calloc(1, sizeof(*change));

	change->offset = offset;
	change->size = size;
	if (bytes != NULL) {
		change->bytes = malloc((size_t)size);
		memcpy(change->bytes, bytes, (size_t)size);
	}
	*entry->last = change;
	entry->last = &change->next;
}

static struct entry *find(const char *name, bool create)
{
	struct entry *unused = NULL;

	for (int i = 0; i < FILES; i++) {
		if (strcmp(entries[i].name, name) == 0)
			return &entries[i];
		if (entries[i].name[0] == '\0' && unused == NULL)
			unused = &entries[i];
	}
	if (!create || unused == NULL)
		return NULL;
	snprintf(unused->name, sizeof(unused->name), "%s", name);
	unused->last = &unused->changes;
	return unused;
}

/* A call to the disk; false: it fails. A cut is before or after what the call does, as it is then not
 * synced. */
static int call(int code)
{
	if (is_paused)
		return SQLITE_OK;
	calls++;
	if (cut_at > 0 && calls >= cut_at)
		is_cut = true;
	if (is_cut)
		return code;
	if (fault != FAULT_NONE && fault != FAULT_NOMEM && calls == fault_at) {
		has_failed = true;
		return fault == FAULT_FULL && code == SQLITE_IOERR_WRITE ? SQLITE_FULL : code;
	}
	return SQLITE_OK;
}

static int close_file(sqlite3_file *base)
{
	free(((struct file *)base)->own.bytes);
	return SQLITE_OK;
}

static struct data *data_of(sqlite3_file *base)
{
	struct file *file = (struct file *)base;

	return file->entry != NULL ? &file->entry->now : &file->own;
}

static int read_file(sqlite3_file *base, void *to, int size, sqlite3_int64 offset)
{
	struct data *data = data_of(base);
	int64_t there = data->size - offset;
	int result = call(SQLITE_IOERR_READ);

	/* what SQLite makes of a short read of a temporary file is its own affair */
	if (result != SQLITE_OK &&
	    (is_cut || fault != FAULT_SHORT || ((struct file *)base)->entry == NULL))
		return result;
	there = there < 0 ? 0 : there < size ? there : size;
	if (result != SQLITE_OK)
		there /= 2;
	if (there > 0)
		memcpy(to, data->bytes + offset, (size_t)there);
	memset((uint8_t *)to + there, 0, (size_t)(size - there));
	return there == size ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *base, const void *from, int size, sqlite3_int64 offset)
{
	struct file *file = (struct file *)base;
	bool was_cut = is_cut;
	int result = call(SQLITE_IOERR_WRITE);

	/* half of it was written */
	if (result != SQLITE_OK && !is_cut && fault == FAULT_SHORT)
		size /= 2;
	else if (result != SQLITE_OK && (was_cut || !is_cut))
		return result;
	put(data_of(base), from, size, offset);
	if (file->entry != NULL)
		note(file->entry, from, size, offset);
	return result;
}

static int truncate_file(sqlite3_file *base, sqlite3_int64 size)
{
	struct file *file = (struct file *)base;
	int result = call(SQLITE_IOERR_TRUNCATE);

	if (result != SQLITE_OK)
		return result;
	cut_data(data_of(base), size);
	if (file->entry != NULL)
		note(file->entry, NULL, size, 0);
	return SQLITE_OK;
}

static void sync_names(void)
{
	for (int i = 0; i < FILES; i++)
		entries[i].durable_name = entries[i].there;
}

static int sync_file(sqlite3_file *base, int flags)
{
	struct file *file = (struct file *)base;
	int result = call(SQLITE_IOERR_FSYNC);

	(void)flags;
	if (result != SQLITE_OK || file->entry == NULL)
		return result;
	copy_data(&file->entry->durable, &file->entry->now);
	drop_changes(file->entry);
	file->entry->durable_name = true;
	/* as the unix VFS: the first sync of what it may have created is one of the folder, too */
	if (file->creates)
		sync_names();
	file->creates = false;
	return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
	*size = data_of(base)->size;
	return is_cut ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int lock_file(sqlite3_file *base, int lock)
{
	(void)base;
	(void)lock;
	return is_cut ? SQLITE_IOERR_LOCK : SQLITE_OK;
}

static int reserved(sqlite3_file *base, int *is)
{
	(void)base;
	*is = 0;
	return SQLITE_OK;
}

static int control(sqlite3_file *base, int op, void *argument)
{
	(void)base;
	(void)op;
	(void)argument;
	return SQLITE_NOTFOUND;
}

static int sector(sqlite3_file *base)
{
	(void)base;
	return SECTOR;
}

static int characteristics(sqlite3_file *base)
{
	(void)base;
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *base, int region, int size, int extend, void volatile **address)
{
	struct entry *entry = ((struct file *)base)->entry;

	if (entry->shared[region] == NULL && extend)
		entry->shared[region] = calloc(1, (size_t)size);
	*address = entry->shared[region];
	return SQLITE_OK;
}

static int shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
	(void)base;
	(void)offset;
	(void)count;
	(void)flags;
	return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *base)
{
	(void)base;
}

static int shm_unmap(sqlite3_file *base, int remove)
{
	(void)remove;
	drop_shared(((struct file *)base)->entry);
	return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
	2,	   close_file, read_file, write_file, truncate_file, sync_file,	      file_size,
	lock_file, lock_file,  reserved,  control,    sector,	     characteristics, shm_map,
	shm_lock,  shm_barrier, shm_unmap, NULL,      NULL,
};

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out)
{
	struct file *file = (struct file *)base;
	int result = call(SQLITE_CANTOPEN);

	(void)vfs;
	memset(file, 0, sizeof(*file));
	if (result != SQLITE_OK)
		return result;
	if (name != NULL) {
		struct entry *entry = find(base_name(name), flags & SQLITE_OPEN_CREATE);

		if (entry == NULL || (!entry->there && !(flags & SQLITE_OPEN_CREATE)))
			return SQLITE_CANTOPEN;
		if (!entry->there) {
			/* Its name is durable with its first sync, or earlier. */
			entry->there = true;
			entry->now.size = 0;
			drop_changes(entry);
			note(entry, NULL, 0, 0);
		}
		file->entry = entry;
		file->creates = (flags & SQLITE_OPEN_CREATE) &&
				(flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL));
	}
	base->pMethods = &methods;
	if (out != NULL)
		*out = flags;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync_directory)
{
	struct entry *entry = find(base_name(name), false);
	int result = call(SQLITE_IOERR_DELETE);

	(void)vfs;
	if (result != SQLITE_OK)
		return result;
	if (entry == NULL || !entry->there)
		return SQLITE_IOERR_DELETE_NOENT;
	entry->there = false;
	drop_changes(entry);
	if (sync_directory)
		sync_names();
	return SQLITE_OK;
}

static int access_file(sqlite3_vfs *vfs, const char *name, int flags, int *is)
{
	struct entry *entry = find(base_name(name), false);
	int result = call(SQLITE_IOERR_ACCESS);

	(void)vfs;
	*is = entry != NULL && entry->there;
	/* as the unix VFS: an empty file is none */
	if (*is && flags == SQLITE_ACCESS_EXISTS && entry->now.size == 0)
		*is = false;
	return result;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int size, char *full)
{
	(void)vfs;
	snprintf(full, (size_t)size, "/%s", base_name(name));
	return SQLITE_OK;
}

/* Seeds of SQLite's own, and the time: the same in each run. */
static int same_random(sqlite3_vfs *vfs, int size, char *bytes)
{
	(void)vfs;
	memset(bytes, 7, (size_t)size);
	return size;
}

static int same_time(sqlite3_vfs *vfs, sqlite3_int64 *now)
{
	static sqlite3_int64 time = INT64_C(212700000000000);

	(void)vfs;
	*now = time += 1001;
	return SQLITE_OK;
}

static void *(*real_malloc)(int);
static void *(*real_realloc)(void *, int);

static bool no_memory(void)
{
	if (!armed || fault != FAULT_NOMEM)
		return false;
	if (++allocations != fault_at)
		return false;
	has_failed = true;
	return true;
}

static void *failing_malloc(int size)
{
	return no_memory() ? NULL : real_malloc(size);
}

static void *failing_realloc(void *old, int size)
{
	return no_memory() ? NULL : real_realloc(old, size);
}

void disk_register(void)
{
	static sqlite3_vfs vfs;
	sqlite3_mem_methods memory;

	sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
	real_malloc = memory.xMalloc;
	real_realloc = memory.xRealloc;
	memory.xMalloc = failing_malloc;
	memory.xRealloc = failing_realloc;
	sqlite3_config(SQLITE_CONFIG_MALLOC, &memory);
	/* so that each allocation is one of the allocator's */
	sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
	sqlite3_initialize();
	vfs = *sqlite3_vfs_find(NULL);
	vfs.zName = "disk";
	vfs.szOsFile = sizeof(struct file);
	vfs.pNext = NULL;
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = access_file;
	vfs.xFullPathname = full_name;
	vfs.xRandomness = same_random;
	vfs.xCurrentTimeInt64 = same_time;
	sqlite3_vfs_register(&vfs, 1);
}

void disk_empty(void)
{
	for (int i = 0; i < FILES; i++) {
		drop_changes(&entries[i]);
		drop_shared(&entries[i]);
		free(entries[i].now.bytes);
		free(entries[i].durable.bytes);
		memset(&entries[i], 0, sizeof(entries[i]));
	}
	sqlite3_randomness(0, NULL);
	calls = cut_at = fault_at = 0;
	fault = FAULT_NONE;
	is_cut = has_failed = false;
}

void disk_cut_after(int64_t count)
{
	cut_at = count > 0 ? calls + count : 0;
}

void disk_pause(bool paused)
{
	is_paused = paused;
}

void disk_cut_now(void)
{
	is_cut = true;
}

bool disk_is_cut(void)
{
	return is_cut;
}

static bool is_log(const struct entry *entry)
{
	size_t length = strlen(entry->name);

	return length > 4 && strcmp(entry->name + length - 4, "-sla") == 0;
}

static bool keep(enum kept kept, bool *ended)
{
	switch (kept) {
	case KEPT_NONE:
		return false;
	case KEPT_ALL:
		return true;
	case KEPT_BEGIN:
		*ended |= next_random() % 8 == 0;
		return !*ended;
	default:
		return next_random() % 2 == 0;
	}
}

static void settle(struct entry *entry, enum kept kept)
{
	int64_t piece = is_log(entry) ? WORD : SECTOR;
	bool ended = false;

	/* a sector at a time, as it is torn; most writes are whole, or nothing is seen of the rest */
	for (struct change *change = entry->changes; change != NULL; change = change->next) {
		bool whole = kept == KEPT_SOME && next_random() % 2 == 0;

		if (change->bytes == NULL || whole) {
			if (!keep(kept, &ended))
				continue;
			if (change->bytes == NULL)
				cut_data(&entry->durable, change->size);
			else
				put(&entry->durable, change->bytes, change->size, change->offset);
			continue;
		}
		for (int64_t at = change->offset, end = at + change->size; at < end;) {
			int64_t to = (at / piece + 1) * piece;

			if (to > end)
				to = end;
			if (keep(kept, &ended))
				put(&entry->durable, change->bytes + at - change->offset, to - at,
				    at);
			at = to;
		}
	}
}

void disk_power(uint64_t seed, enum kept kept)
{
	state = seed;
	for (int i = 0; i < FILES; i++) {
		struct entry *entry = &entries[i];

		if (entry->name[0] == '\0')
			continue;
		/* a name that is new or gone and was not synced */
		if (entry->there != entry->durable_name && next_random() % 2 == 0)
			entry->durable_name = entry->there;
		if (entry->durable_name && entry->there)
			settle(entry, kept);
		else if (!entry->durable_name)
			entry->durable.size = 0;
		drop_changes(entry);
		drop_shared(entry);
		copy_data(&entry->now, &entry->durable);
		entry->there = entry->durable_name;
	}
	is_cut = false;
	cut_at = 0;
}

void disk_fail(enum fault what, int64_t number)
{
	fault = what;
	fault_at = what == FAULT_NOMEM || number == 0 ? number : calls + number;
	allocations = 0;
	has_failed = false;
}

bool disk_failed(void)
{
	return has_failed;
}

void disk_memory(bool is_armed)
{
	armed = is_armed;
}

int64_t disk_calls(void)
{
	return calls;
}

bool disk_copy(const char *from, const char *to)
{
	struct entry *source = find(from, false), *copy = find(to, true);

	if (source == NULL || copy == NULL || !source->there)
		return false;
	drop_changes(copy);
	copy_data(&copy->now, &source->now);
	copy_data(&copy->durable, &source->now);
	copy->there = copy->durable_name = true;
	return true;
}

void disk_remove(const char *name)
{
	struct entry *entry = find(name, false);

	if (entry != NULL) {
		entry->there = entry->durable_name = false;
		entry->now.size = entry->durable.size = 0;
		drop_changes(entry);
	}
}

bool disk_edit(const char *name, int64_t offset, uint8_t byte)
{
	struct entry *entry = find(name, false);

	if (entry == NULL || !entry->there || offset >= entry->now.size)
		return false;
	entry->now.bytes[offset] = entry->durable.bytes[offset] = byte;
	return true;
}

bool disk_cut_file(const char *name, int64_t size)
{
	struct entry *entry = find(name, false);

	if (entry == NULL || !entry->there)
		return false;
	cut_data(&entry->now, size);
	cut_data(&entry->durable, size);
	return true;
}

bool disk_there(const char *name)
{
	struct entry *entry = find(name, false);

	return entry != NULL && entry->there;
}

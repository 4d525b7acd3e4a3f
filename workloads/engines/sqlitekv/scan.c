/* Iterates over a range of keys, forward or backward: merges LevelDB's with those of the open
 * transaction, which hide them. */
#include "kv.h"

static struct slice base_key(const struct scan *scan)
{
	struct slice key;

	key.data = (const unsigned char *)leveldb_iter_key(scan->base, &key.size);
	return key;
}

static bool inside(const struct scan *scan, struct slice key)
{
	return scan->backward ? slice_compare(key, bytes_slice(&scan->start)) >= 0
			      : slice_compare(key, bytes_slice(&scan->end)) < 0;
}

static void step_base(struct scan *scan)
{
	if (scan->backward)
		leveldb_iter_prev(scan->base);
	else
		leveldb_iter_next(scan->base);
}

static void step_over(struct scan *scan)
{
	scan->over = scan->backward ? overlay_before(&scan->store->overlay, scan->over->key)
				    : scan->over->next[0];
}

/* Goes to the first key from `place` on, or backward to the last one before it. */
static void seek(struct scan *scan, struct slice place)
{
	struct store *store = scan->store;

	if (scan->base == NULL)
		scan->base = leveldb_create_iterator(store->db, store->read);
	leveldb_iter_seek(scan->base, (const char *)place.data, place.size);
	if (scan->backward && leveldb_iter_valid(scan->base))
		leveldb_iter_prev(scan->base);
	else if (scan->backward)
		leveldb_iter_seek_to_last(scan->base);
	scan->over = scan->backward ? overlay_before(&store->overlay, place)
				    : overlay_from(&store->overlay, place);
	scan->generation = store->overlay.generation;
}

/* Takes the row, unless the key was deleted. */
static bool take(struct scan *scan, struct slice key, struct slice value)
{
	if (value.size == 0)
		return false;
	bytes_set(&scan->key, key);
	scan->value = value;
	/* the transaction may end before the row is read */
	if (scan->from_overlay) {
		bytes_set(&scan->copy, value);
		scan->value = bytes_slice(&scan->copy);
	}
	scan->valid = true;
	return true;
}

/* Finds the next row from where both are. */
static int settle(struct scan *scan, char **message)
{
	char *error = NULL;

	scan->valid = false;
	for (;;) {
		bool has_base = leveldb_iter_valid(scan->base) && inside(scan, base_key(scan));
		bool has_over = scan->over != NULL && inside(scan, scan->over->key);
		int order;

		if (!has_base && !has_over)
			break;
		if (has_over && scan->over->newest == NULL) {
			step_over(scan);
			continue;
		}
		order = !has_base   ? 1
			: !has_over ? -1
				    : slice_compare(base_key(scan), scan->over->key);
		if (scan->backward && has_base && has_over)
			order = -order;
		scan->from_overlay = order >= 0;
		scan->from_both = order == 0;
		if (scan->from_overlay) {
			const struct overlay_version *version = scan->over->newest;

			if (!version->deleted && take(scan, scan->over->key, version->value))
				break;
			step_over(scan);
			if (scan->from_both)
				step_base(scan);
		} else {
			struct slice value;

			value.data =
				(const unsigned char *)leveldb_iter_value(scan->base, &value.size);
			if (take(scan, base_key(scan), value))
				break;
			step_base(scan);
		}
	}
	leveldb_iter_get_error(scan->base, &error);
	if (error != NULL) {
		scan->valid = false;
		return store_error(scan->store->path, error, message);
	}
	return scan->key.failed || scan->copy.failed ? SQLITE_NOMEM : SQLITE_OK;
}

int scan_begin(struct scan *scan, struct store *store, bool backward, char **message)
{
	if (scan->start.failed || scan->end.failed)
		return SQLITE_NOMEM;
	scan->store = store;
	scan->backward = backward;
	seek(scan, bytes_slice(backward ? &scan->end : &scan->start));
	return settle(scan, message);
}

int scan_next(struct scan *scan, char **message)
{
	/* The transaction ended: what it wrote is in LevelDB now, or nowhere. */
	if (scan->generation != scan->store->overlay.generation) {
		leveldb_iter_destroy(scan->base);
		scan->base = NULL;
		if (!scan->backward)
			bytes_add_byte(&scan->key, 0);
		if (scan->key.failed)
			return SQLITE_NOMEM;
		seek(scan, bytes_slice(&scan->key));
		return settle(scan, message);
	}
	if (scan->from_overlay)
		step_over(scan);
	if (!scan->from_overlay || scan->from_both)
		step_base(scan);
	return settle(scan, message);
}

void scan_close(struct scan *scan)
{
	if (scan->base != NULL)
		leveldb_iter_destroy(scan->base);
	bytes_free(&scan->start);
	bytes_free(&scan->end);
	bytes_free(&scan->key);
	bytes_free(&scan->copy);
	*scan = (struct scan){0};
}

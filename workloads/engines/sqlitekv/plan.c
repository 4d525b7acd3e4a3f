/* Plans a query of a virtual table (xBestIndex) and makes a range of keys of it: equal first
 * columns of the key, and a range of the next one.
 *
 * SQLite checks each row again, so that a range may have too many rows. It also compares with the
 * affinities of both sides, and shows a table the values of the other side only: where the
 * conversion could be one of the column's own values, the range is not used.
 */
#include "values.h"

#include <string.h>

/* A plan: the number of equal columns, and which bounds follow. */
enum {
	PLAN_EQUAL = 0xff,
	PLAN_LOWER = 1 << 8,
	PLAN_ABOVE = 1 << 9, /* without the lower bound */
	PLAN_UPPER = 1 << 10,
	PLAN_BELOW = 1 << 11,
	PLAN_BACKWARD = 1 << 12,
};

/* Rows of a table, as if every column had so many values. */
static const double rows_of_table = 1e6, values_of_column = 100, rows_of_range = 0.25;

bool plan_is_backward(int plan)
{
	return (plan & PLAN_BACKWARD) != 0;
}

static bool is_numeric(char affinity)
{
	return affinity == 'I' || affinity == 'N' || affinity == 'R';
}

static char key_affinity(const struct kv_schema *schema, int key)
{
	return schema->key[key] >= 0 && !schema->has_rowid
		       ? schema->columns[schema->key[key]].affinity
		       : 'I';
}

static enum collation key_collation(const struct kv_schema *schema, int key)
{
	return schema->has_rowid ? BINARY : schema->columns[schema->key[key]].collation;
}

/* Whether a column is that of the key. */
static bool is_key_column(const struct kv_schema *schema, int key, int column)
{
	return column == schema->key[key] || (schema->has_rowid && column < 0);
}

/* Returns a usable constraint of the key's column with one of two operators; -1: none. */
static int find(const struct kv_schema *schema, sqlite3_index_info *info, int key, int operator,
		int other)
{
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

		if (constraint->usable && (constraint->op == operator|| constraint->op == other) &&
		    is_key_column(schema, key, constraint->iColumn) &&
		    sqlite3_stricmp(sqlite3_vtab_collation(info, i),
				    collation_names[key_collation(schema, key)]) == 0)
			return i;
	}
	return -1;
}

/* Whether the key's order is the requested one. An equal column may be left out where its range is
 * always used. */
static bool is_ordered(const struct kv_schema *schema, const sqlite3_index_info *info, int equal)
{
	int key = 0;

	for (int i = 0; i < info->nOrderBy && key < schema->key_count; i++) {
		const struct sqlite3_index_orderby *term = &info->aOrderBy[i];

		if (term->desc != info->aOrderBy[0].desc)
			return false;
		while (key < equal && !is_key_column(schema, key, term->iColumn) &&
		       is_numeric(key_affinity(schema, key)))
			key++;
		if (key == schema->key_count)
			break;
		if (!is_key_column(schema, key, term->iColumn))
			return false;
		key++;
	}
	return info->nOrderBy > 0;
}

static void use(sqlite3_index_info *info, int constraint, int *count)
{
	info->aConstraintUsage[constraint].argvIndex = ++*count;
}

static bool all_numeric(const struct kv_schema *schema)
{
	for (int i = 0; i < schema->key_count; i++)
		if (!is_numeric(key_affinity(schema, i)))
			return false;
	return true;
}

int plan_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	const struct kv_schema *schema = &((struct kv_table *)vtab)->schema;
	int equal = 0, count = 0, found;
	double rows = rows_of_table;

	info->idxNum = 0;
	while (equal < schema->key_count && equal < PLAN_EQUAL &&
	       (found = find(schema, info, equal, SQLITE_INDEX_CONSTRAINT_EQ,
			     SQLITE_INDEX_CONSTRAINT_IS)) >= 0) {
		use(info, found, &count);
		equal++;
		rows = rows > values_of_column ? rows / values_of_column : 1;
	}
	if (equal == schema->key_count) {
		rows = 1;
		/* A table that is written while it is read must have one such row. */
		if (all_numeric(schema))
			info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
	} else {
		found = find(schema, info, equal, SQLITE_INDEX_CONSTRAINT_GT,
			     SQLITE_INDEX_CONSTRAINT_GE);
		if (found >= 0) {
			use(info, found, &count);
			info->idxNum |= PLAN_LOWER;
			if (info->aConstraint[found].op == SQLITE_INDEX_CONSTRAINT_GT)
				info->idxNum |= PLAN_ABOVE;
			rows *= rows_of_range;
		}
		found = find(schema, info, equal, SQLITE_INDEX_CONSTRAINT_LT,
			     SQLITE_INDEX_CONSTRAINT_LE);
		if (found >= 0) {
			use(info, found, &count);
			info->idxNum |= PLAN_UPPER;
			if (info->aConstraint[found].op == SQLITE_INDEX_CONSTRAINT_LT)
				info->idxNum |= PLAN_BELOW;
			rows *= rows_of_range;
		}
	}
	info->idxNum |= equal;
	if (is_ordered(schema, info, equal)) {
		info->orderByConsumed = 1;
		if (info->aOrderBy[0].desc)
			info->idxNum |= PLAN_BACKWARD;
	}
	info->estimatedRows = (sqlite3_int64)rows;
	info->estimatedCost = 10 + rows;
	return SQLITE_OK;
}

/* Whether a text could be a number: SQLite then compares it as one with a column of numbers. */
static bool may_be_number(struct slice text)
{
	return text.size > 0 && strchr(" \t\n\v\f\r+-.0123456789", text.data[0]) != NULL;
}

/* Whether rows that compare as requested have keys that do. */
static bool is_sound(const struct field *field, char affinity, bool is_range)
{
	if (is_numeric(affinity) || field->type == SQLITE_BLOB || field->type == SQLITE_NULL)
		return true;
	if (affinity == 'T')
		return field->type == SQLITE_TEXT;
	return !is_range && field->type == SQLITE_TEXT && !may_be_number(field->bytes);
}

/* Loads the value that is compared with a column of the key. */
static int load(const struct kv_table *table, int key, sqlite3_value *value, bool is_range,
		struct field *field, bool *sound, bool *empty)
{
	char affinity = key_affinity(&table->schema, key);
	/* a number that is compared with a text is not converted */
	int result = field_load(field, value, is_numeric(affinity) ? 'N' : 'B');

	*sound = result == SQLITE_OK && is_sound(field, affinity, is_range);
	if (result == SQLITE_OK && field->type == SQLITE_NULL)
		*empty = true;
	return result;
}

int plan_range(struct kv_table *table, int plan, sqlite3_value **values, struct scan *scan,
	       bool *exact, bool *empty, bool *prefix)
{
	const struct kv_schema *schema = &table->schema;
	int equal = plan & PLAN_EQUAL, key = 0, next = 0, result = SQLITE_OK;
	struct field field;
	bool sound = true;

	*empty = false;
	key_begin(&scan->start, table->shared->id);
	for (; key < equal && sound; key++) {
		result = load(table, key, values[next++], false, &field, &sound, empty);
		if (result != SQLITE_OK || *empty)
			return result;
		if (!sound)
			break;
		key_add(&scan->start, &field, key_collation(schema, key));
	}
	*exact = key == schema->key_count;
	*prefix = sound && key > 0 && (plan & (PLAN_LOWER | PLAN_UPPER)) == 0;
	bytes_set(&scan->end, bytes_slice(&scan->start));
	key_add_end(&scan->end);
	if (*exact || !sound)
		return SQLITE_OK;
	if ((plan & PLAN_UPPER) != 0) {
		result = load(table, key, values[next + ((plan & PLAN_LOWER) != 0)], true, &field,
			      &sound, empty);
		if (result != SQLITE_OK || *empty)
			return result;
		if (sound) {
			bytes_set(&scan->end, bytes_slice(&scan->start));
			key_add(&scan->end, &field, key_collation(schema, key));
			if ((plan & PLAN_BELOW) == 0)
				key_add_end(&scan->end);
		}
	}
	if ((plan & PLAN_LOWER) != 0) {
		result = load(table, key, values[next], true, &field, &sound, empty);
		if (result != SQLITE_OK || *empty)
			return result;
		if (sound) {
			key_add(&scan->start, &field, key_collation(schema, key));
			if ((plan & PLAN_ABOVE) != 0)
				key_add_end(&scan->start);
		}
	}
	return SQLITE_OK;
}

/* Prepares, binds and runs statements on a database with a log or SQLite's own (struct target). */
#include "target.h"

#include <string.h>

int target_run(const struct target *target, const char *sql)
{
	return target->ssl != NULL ? ssl_exec(target->ssl, sql)
				   : sqlite3_exec(target->db, sql, NULL, NULL, NULL);
}

int target_prepare(struct target *target, const char *sql, union statement *made)
{
	if (target->ssl != NULL)
		return ssl_prepare(target->ssl, sql, -1, &made->ours, NULL);
	return sqlite3_prepare_v2(target->db, sql, -1, &made->plain, NULL);
}

/* A value of a kind that `draw` chooses; the same for both. */
static int bind_any(struct target *target, union statement to, int index, uint64_t what)
{
	static const double reals[] = {0.1 + 0.2, 1e308 * 10, -0.0, 1.0 / 3, 5e-324};
	static const uint16_t wide[] = {'w', 0x20ac, 0xd83d, 0xde00, 'x', 0};
	char text[80];
	int size = (int)(what / 8 % 60);

	memset(text, 'a' + (int)(what % 26), sizeof(text));
	text[1] = '\'';
	if (size > 10)
		text[5] = '\0';
#define BIND(name, ...)                                                     \
	(target->ssl != NULL ? ssl_bind_##name(to.ours, index, __VA_ARGS__) \
			     : sqlite3_bind_##name(to.plain, index, __VA_ARGS__ LIFE))
	switch (what % 8) {
	case 0:
#define LIFE
		return BIND(int64, (int64_t)(what * UINT64_C(0x9e3779b97f4a7c15)));
	case 1:
		return BIND(double, reals[what / 8 % 5]);
	case 4:
		return BIND(zeroblob, size);
	case 5:
		return target->ssl != NULL ? ssl_bind_null(to.ours, index)
					   : sqlite3_bind_null(to.plain, index);
#undef LIFE
#define LIFE , SQLITE_TRANSIENT
	case 2:
		return BIND(text, text, size);
	case 3:
		return BIND(blob, text, size);
	case 6:
		return BIND(text16, wide, -1);
	default:
		return BIND(text, "plain", -1);
	}
#undef LIFE
}

int target_bind_number(struct target *target, union statement to, int index, int64_t value)
{
	return target->ssl != NULL ? ssl_bind_int64(to.ours, index, value)
				   : sqlite3_bind_int64(to.plain, index, value);
}

static void finalize(struct target *target, union statement statement)
{
	if (target->ssl != NULL)
		ssl_finalize(statement.ours);
	else
		sqlite3_finalize(statement.plain);
}

static int finish(struct target *target, union statement statement)
{
	int result;

	do
		result = target->ssl != NULL ? ssl_step(statement.ours)
					     : sqlite3_step(statement.plain);
	while (result == SQLITE_ROW);
	finalize(target, statement);
	return result == SQLITE_DONE ? SQLITE_OK : result;
}

/* A statement with a number, if it has ?1, and a value, if it has ?2. */
int run_statement(struct target *target, const char *sql, int64_t number, uint64_t value)
{
	union statement statement;
	int result = target_prepare(target, sql, &statement);

	if (result != SQLITE_OK)
		return result;
	if (strstr(sql, "?1") != NULL)
		result = target_bind_number(target, statement, 1, number);
	if (result == SQLITE_OK && strstr(sql, "?2") != NULL)
		result = bind_any(target, statement, 2, value);
	if (result == SQLITE_OK)
		return finish(target, statement);
	finalize(target, statement);
	return result;
}

int run_plain(struct target *target, const char *sql)
{
	return run_statement(target, sql, 0, 0);
}

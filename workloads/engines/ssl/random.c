/* Makes SQL's time and random numbers repeatable: replaces random() and randomblob(), notes for the
 * log the seed and the time that a statement used, and gives them when it is executed again. */
#include "state.h"

static void note_random(struct ssl *ssl)
{
	struct transaction_log *transaction = &ssl->transaction;

	if (!transaction->used_random && !ssl->replaying)
		transaction->seed = ssl->random.state;
	transaction->used_random = true;
	if (ssl->options.policy == SSL_CHECKPOINT)
		taint(ssl, SSL_NOT_REPEATABLE);
}

static void random_number(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct ssl *ssl = sqlite3_user_data(context);

	note_random(ssl);
	sqlite3_result_int64(context, (int64_t)prng_next(&ssl->random));
}

/* As SQLite's randomblob in func.c: at least one byte. */
static void random_blob(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct ssl *ssl = sqlite3_user_data(context);
	int64_t size = sqlite3_value_int64(values[0]);
	uint8_t *data;

	if (size < 1)
		size = 1;
	if (size > sqlite3_limit(ssl->db, SQLITE_LIMIT_LENGTH, -1)) {
		sqlite3_result_error_toobig(context);
		return;
	}
	note_random(ssl);
	data = sqlite3_malloc64((sqlite3_uint64)size);
	if (data == NULL) {
		sqlite3_result_error_nomem(context);
		return;
	}
	for (int64_t i = 0; i < size; i++)
		data[i] = (uint8_t)(prng_next(&ssl->random) >> 56);
	sqlite3_result_blob(context, data, (int)size, sqlite3_free);
}

int connection_own(struct ssl *ssl)
{
	int flags = SQLITE_UTF8 | SQLITE_INNOCUOUS;

	sqlite3_randomness(sizeof(ssl->random), &ssl->random);
	if (ssl->options.policy == SSL_IGNORE)
		return SQLITE_OK;
	TRY(sqlite3_create_function(ssl->db, "random", 0, flags, ssl, random_number, NULL, NULL));
	return sqlite3_create_function(ssl->db, "randomblob", 1, flags, ssl, random_blob, NULL,
				       NULL);
}

int64_t connection_time(int64_t now)
{
	struct ssl *ssl = ssl_current;

	if (ssl == NULL || ssl->options.policy == SSL_IGNORE)
		return now;
	if (ssl->replaying)
		return ssl->transaction.used_time ? ssl->transaction.time : now;
	if (!ssl->transaction.used_time)
		ssl->transaction.time = now;
	ssl->transaction.used_time = true;
	if (ssl->options.policy == SSL_CHECKPOINT)
		taint(ssl, SSL_NOT_REPEATABLE);
	return now;
}

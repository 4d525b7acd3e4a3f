/* Commits a transaction of SQLite/SSL by a log record of its statements, or by a checkpoint if they
 * cannot be repeated; decides when a checkpoint must follow; sets up the hooks that watch a
 * connection's statements. */
#include "state.h"

/* Returns why the committing transaction cannot be a record; otherwise sets `payload`. */
static enum ssl_reason why_not(struct ssl *ssl, struct bytes *payload)
{
	const struct transaction_log *transaction = &ssl->transaction;

	if (ssl->log.suspect)
		return SSL_LOG_ERROR;
	if (ssl->always != SSL_NO_REASON)
		return ssl->always;
	if (transaction->taint != SSL_NO_REASON)
		return transaction->taint;
	if (ssl->schema_taint != SSL_NO_REASON)
		return ssl->schema_taint;
	if (!transaction->any)
		return SSL_NOT_CAPTURED;
	if (!record_payload(ssl, payload) || !log_fits(&ssl->log, payload->size))
		return SSL_TOO_LARGE;
	return SSL_NO_REASON;
}

int commit_write(struct ssl *ssl)
{
	struct bytes payload = {0};
	enum ssl_reason reason;
	int result;

	record_statement(ssl);
	reason = why_not(ssl, &payload);
	result = reason == SSL_NO_REASON ? log_append(ssl, &payload)
					 : checkpoint_write(ssl, reason, ssl->memory.ends);
	bytes_free(&payload);
	return result;
}

void commit_over(struct ssl *ssl)
{
	transaction_clear(ssl);
}

enum ssl_reason checkpoint_due(const struct ssl *ssl)
{
	const struct log *log = &ssl->log;

	if ((log->tail - LOG_RECORDS) * 100 >= (log->size - LOG_RECORDS) * ssl->options.full)
		return SSL_LOG_FULL;
	if (ssl->options.dirty > 0 && ssl->memory.dirty > ssl->options.dirty)
		return SSL_DIRTY_PAGES;
	return SSL_NO_REASON;
}

bool options_own(const struct ssl_options *options, struct error *error)
{
	return true;
}

int connection_watch(struct ssl *ssl)
{
	TRY(classify_connect(ssl));
	TRY(classify_schema(ssl));
	return schema_connect(ssl);
}

void own_free(struct ssl *ssl)
{
	transaction_free(ssl);
	classify_free(ssl);
}

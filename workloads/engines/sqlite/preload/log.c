/* Maps the shared log of a command's transactions (transactions.h) in a process of the command,
 * adds paths of databases to it, and provides the lock of the preload's state. */
#include "log.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct transaction_log *transaction_log;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool looked;  /* this process's PID namespace was checked */
static bool counted; /* this process was counted as a caller of SQLite */

void lock_all(void)
{
	pthread_mutex_lock(&lock);
}

void unlock_all(void)
{
	pthread_mutex_unlock(&lock);
}

static void begin_child(void)
{
	/* unshare() moves a process's children into another namespace, but not itself */
	looked = false;
	counted = false;
	unlock_all();
}

__attribute__((constructor)) static void begin(void)
{
	/* a child of fork() must not find it locked by a thread that it does not have */
	pthread_atfork(lock_all, unlock_all, begin_child);
}

/* Called with the lock. */
static void count_process(void)
{
	if (transaction_log && !counted)
		__atomic_add_fetch(&transaction_log->processes, 1, __ATOMIC_RELAXED);
	counted = true;
}

/* Returns the log, NULL if there is none, where nothing is recorded. Called with the lock. */
static struct transaction_log *get_log(void)
{
	static bool tried;
	const char *path;
	int file;

	if (tried) {
		count_process();
		return transaction_log;
	}
	tried = true;
	path = getenv(TRANSACTIONS_VARIABLE);
	file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (file < 0)
		return NULL;
	transaction_log =
		mmap(NULL, TRANSACTIONS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	if (transaction_log == MAP_FAILED)
		transaction_log = NULL;
	count_process();
	return transaction_log;
}

struct transaction_log *preload_log(void)
{
	struct transaction_log *found;

	lock_all();
	found = get_log();
	unlock_all();
	return found;
}

bool can_note(void)
{
	static bool is_apart;

	if (get_log() == NULL)
		return false;
	if (!looked)
		is_apart = namespace_of_pids() != transaction_log->pid_namespace;
	looked = true;
	return !is_apart;
}

uint32_t log_path(const char *text, bool attached)
{
	uint64_t number, count = __atomic_load_n(&transaction_log->next_path, __ATOMIC_RELAXED);
	struct path *path;

	for (uint32_t i = 0; i < count && i < PATHS_MOST; i++) {
		path = &transaction_log->paths[i];
		if (__atomic_load_n(&path->whole, __ATOMIC_ACQUIRE) && path->attached == attached &&
		    strcmp(path->text, text) == 0)
			return i;
	}
	number = __atomic_fetch_add(&transaction_log->next_path, 1, __ATOMIC_RELAXED);
	if (number >= PATHS_MOST) {
		__atomic_add_fetch(&transaction_log->unfollowed, 1, __ATOMIC_RELAXED);
		return PATHS_MOST;
	}
	path = &transaction_log->paths[number];
	snprintf(path->text, sizeof(path->text), "%s", text);
	path->attached = attached;
	__atomic_store_n(&path->whole, 1, __ATOMIC_RELEASE);
	return (uint32_t)number;
}

/* LevelDB's environment with background work on the caller's thread, and a log of its file calls.
 *
 * A call of LevelDB that waits for background work, such as CompactRange, would wait for ever. All
 * its waits are loops around a condition variable, whose wait() is replaced by the linker (--wrap,
 * engine.mk): with queued work it does this and returns, as after a spurious wakeup. */
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <leveldb/env.h>

extern "C" {
#include "data.h"
#include "engine_files.h"
#include "environment.h"
#include "roles.h"
}

/* LevelDB's c.cc has more members; leveldb_options_set_env reads the first one alone. */
struct leveldb_env_t {
	leveldb::Env *env;
};

using leveldb::Slice;
using leveldb::Status;

/* of the calls of one thread: a lock would be held while LevelDB waits */
static std::deque<std::pair<void (*)(void *), void *>> queue;

void environment_drain(void)
{
	while (!queue.empty()) {
		auto work = queue.front();

		queue.pop_front();
		work.first(work.second);
	}
}

extern "C" {
void __real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
	std::condition_variable *condition, std::unique_lock<std::mutex> &lock);
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
	std::condition_variable *condition, std::unique_lock<std::mutex> &lock);
}

void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
	std::condition_variable *condition, std::unique_lock<std::mutex> &lock)
{
	if (queue.empty()) {
		__real__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(condition, lock);
		return;
	}
	lock.unlock();
	environment_drain();
	lock.lock();
}

namespace
{

int64_t file_size(const std::string &path)
{
	struct stat status;

	return stat(path.c_str(), &status) == 0 ? static_cast<int64_t>(status.st_size) : 0;
}

/* A new file that is appended to, recorded. */
class Appended : public leveldb::WritableFile
{
      public:
	Appended(const std::string &path, leveldb::WritableFile *real, uint64_t begin)
	    : real_(real), role_(role_of(path.c_str())),
	      /* CURRENT is renamed, and the info log has times in it */
	      file_(engine_files_open(path.c_str(), role_,
				      role_ == LOG || role_ == TABLE || role_ == MANIFEST, begin))
	{
		batch_.database = engine_files_database(file_);
	}

	~Appended() override
	{
		if (file_ != nullptr)
			Close();
		delete real_;
	}

	Status Append(const Slice &data) override
	{
		uint64_t begin = engine_files_now();
		Status status = real_->Append(data);

		pending_.append(data.data(), data.size());
		if (role_ == TABLE)
			block_.append(data.data(), data.size());
		/* what LevelDB's file did with a full buffer (env_posix.cc, Append) */
		if (pending_.size() > BUFFER)
			note(pending_.size() - BUFFER < BUFFER ? BUFFER : pending_.size(), begin,
			     status);
		return status;
	}

	/* A table is flushed after each block of its rows (table_builder.cc). */
	Status Flush() override
	{
		Status status = flush();

		if (role_ == TABLE && last_call_ >= 0)
			data_block(batch_.database, block_.data(), block_.size(), last_call_);
		block_.clear();
		return status;
	}

	/* For a manifest LevelDB syncs the folder, too (env_posix.cc, SyncDirIfManifest). */
	Status Sync() override
	{
		Status status = flush();
		uint64_t begin = engine_files_now();

		if (status.ok())
			status = real_->Sync();
		engine_files_sync(file_, role_ == MANIFEST, begin, !status.ok());
		return status;
	}

	Status Close() override
	{
		Status flushed = flush();
		uint64_t begin = engine_files_now();
		Status status = real_->Close();

		engine_files_close(file_, begin, !status.ok());
		file_ = nullptr;
		return flushed.ok() ? status : flushed;
	}

      private:
	static constexpr size_t BUFFER = 65536; /* of LevelDB's file */

	Status flush()
	{
		uint64_t begin = engine_files_now();
		Status status = real_->Flush();

		if (!pending_.empty())
			note(pending_.size(), begin, status);
		return status;
	}

	/* Notes that so many of the pending bytes reached the file. */
	void note(size_t size, uint64_t begin, const Status &status)
	{
		auto bytes = static_cast<int64_t>(size);

		last_call_ = engine_files_write(file_, pending_.data(), bytes, offset_, begin,
						!status.ok());
		if (role_ == LOG && last_call_ >= 0)
			data_log(&batch_, pending_.data(), size, offset_, last_call_);
		offset_ += bytes;
		pending_.erase(0, size);
	}

	leveldb::WritableFile *real_;
	enum role role_;
	struct engine_file *file_;
	std::string pending_; /* not written yet */
	std::string block_;   /* of a table, since the last flush */
	int64_t offset_ = 0, last_call_ = -1;
	struct data_batch batch_ = {};
};

/* LevelDB's own maps a table. */
class Table : public leveldb::RandomAccessFile
{
      public:
	Table(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor)
	{
	}

	~Table() override
	{
		close(descriptor_);
	}

	Status Read(uint64_t offset, size_t size, Slice *result, char *room) const override
	{
		ssize_t got = pread(descriptor_, room, size, static_cast<off_t>(offset));

		*result = Slice(room, got < 0 ? 0 : static_cast<size_t>(got));
		return got < 0 ? Status::IOError(path_, std::strerror(errno)) : Status::OK();
	}

      private:
	std::string path_;
	int descriptor_;
};

class InfoLog : public leveldb::Logger
{
      public:
	InfoLog(std::string path, leveldb::Logger *real, uint64_t begin)
	    : path_(std::move(path)), real_(real),
	      file_(engine_files_open(path_.c_str(), INFO, false, begin)), size_(file_size(path_))
	{
	}

	~InfoLog() override
	{
		uint64_t begin = engine_files_now();

		delete real_;
		engine_files_close(file_, begin, 0);
	}

	void Logv(const char *format, std::va_list arguments) override
	{
		uint64_t begin = engine_files_now();
		int64_t size;

		real_->Logv(format, arguments);
		size = file_size(path_);
		engine_files_write(file_, nullptr, size - size_, size_, begin, 0);
		size_ = size;
	}

      private:
	std::string path_;
	leveldb::Logger *real_;
	struct engine_file *file_;
	int64_t size_;
};

class Inline : public leveldb::EnvWrapper
{
      public:
	Inline() : EnvWrapper(leveldb::Env::Default())
	{
	}

	void Schedule(void (*work)(void *), void *argument) override
	{
		queue.emplace_back(work, argument);
	}

	Status NewRandomAccessFile(const std::string &path,
				   leveldb::RandomAccessFile **file) override
	{
		int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);

		*file = nullptr;
		if (descriptor < 0 && errno == ENOENT)
			return Status::NotFound(path, std::strerror(errno));
		if (descriptor < 0)
			return Status::IOError(path, std::strerror(errno));
		*file = new Table(path, descriptor);
		return Status::OK();
	}

	Status NewWritableFile(const std::string &path, leveldb::WritableFile **file) override
	{
		uint64_t begin = engine_files_now();
		Status status = target()->NewWritableFile(path, file);

		if (status.ok() && engine_files_recorded())
			*file = new Appended(path, *file, begin);
		return status;
	}

	Status NewLogger(const std::string &path, leveldb::Logger **logger) override
	{
		uint64_t begin = engine_files_now();
		Status status = target()->NewLogger(path, logger);

		if (status.ok() && engine_files_recorded())
			*logger = new InfoLog(path, *logger, begin);
		return status;
	}

	Status RemoveFile(const std::string &path) override
	{
		uint64_t begin = engine_files_now();
		Status status = target()->RemoveFile(path);

		/* a flush without rows removes a table that it did not make (db/builder.cc) */
		if (!status.IsNotFound())
			engine_files_delete(path.c_str(), role_of(path.c_str()), begin,
					    !status.ok());
		return status;
	}
};

} // namespace

leveldb_env_t *environment_inline(void)
{
	static Inline environment;
	static leveldb_env_t given = {&environment};

	return &given;
}

/* LevelDB's environment: does background work on the caller's thread, reads tables by pread, logs
 * the file calls, and reports the rows in them to moved.h (data.h).
 *
 * The linker replaces two calls of LevelDB (--wrap, leveldb.mk). A wait for background work, as in
 * CompactRange, would wait for ever: all waits are loops around a condition variable, whose wait()
 * does the queued work and returns, as after a spurious wakeup. write() is logged where it is made,
 * as one Append makes none, one or two. */
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <leveldb/env.h>

extern "C" {
#include "data.h"
#include "engine_files.h"
#include "environment.h"
#include "files.h"
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
ssize_t __real_write(int descriptor, const void *bytes, size_t size);
ssize_t __wrap_write(int descriptor, const void *bytes, size_t size);
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
		Status status;

		if (role_ == TABLE)
			block_.append(data.data(), data.size());
		writing = this;
		status = real_->Append(data);
		writing = nullptr;
		return status;
	}

	/* A table is flushed after each block of its rows (table_builder.cc). */
	Status Flush() override
	{
		Status status = flush();

		if (!parts_.empty())
			data_block(batch_.database, block_.data(), block_.size(), parts_.data());
		block_.clear();
		parts_.clear();
		block_at_ = offset_;
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

	/* The file that LevelDB may write to now. */
	static Appended *writing;

	/* Does LevelDB's write to this file, and logs it. */
	ssize_t write(int descriptor, const void *bytes, size_t size)
	{
		uint64_t begin = engine_files_now();
		ssize_t result = __real_write(descriptor, bytes, engine_files_room(size));
		int reason = errno;
		int64_t written = result < 0 ? 0 : result, call;

		call = engine_files_write(file_, bytes, result < 0 ? (int64_t)size : written,
					  offset_, begin, result < 0);
		if (role_ == LOG && call >= 0)
			data_log(&batch_, static_cast<const char *>(bytes),
				 static_cast<size_t>(written), offset_, call);
		offset_ += written;
		if (role_ == TABLE && call >= 0)
			parts_.push_back({call, static_cast<size_t>(offset_ - block_at_)});
		errno = reason;
		return result;
	}

      private:
	Status flush()
	{
		Status status;

		writing = this;
		status = real_->Flush();
		writing = nullptr;
		return status;
	}

	leveldb::WritableFile *real_;
	enum leveldb_role role_;
	struct engine_file *file_;
	std::string block_; /* of a table, since the last flush */
	std::vector<struct data_part> parts_;
	int64_t offset_ = 0, block_at_ = 0;
	struct data_batch batch_ = {};
};

Appended *Appended::writing = nullptr;

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

ssize_t __wrap_write(int descriptor, const void *bytes, size_t size)
{
	/* a signal handler (fail.c) writes an error within a call of LevelDB */
	if (Appended::writing == nullptr || descriptor == STDERR_FILENO)
		return __real_write(descriptor, bytes, size);
	return Appended::writing->write(descriptor, bytes, size);
}

leveldb_env_t *environment_inline(void)
{
	static Inline environment;
	static leveldb_env_t given = {&environment};

	return &given;
}

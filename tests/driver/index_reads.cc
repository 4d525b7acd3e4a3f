/* Counts the reads of LevelDB's tables by level: a database whose tables are on levels 0, 1 and 2,
 * and each key read twice.
 *
 * usage: index_reads FOLDER INDEX_LEVELS. A line per table: its level and number, and its
 * reads in the second pass, of its index block and others. A last line has the number of keys that
 * were read.
 *
 * No Get finds a block in a cache; so each that reaches a table reads one block of rows of it. */
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/options.h>

using leveldb::Slice;
using leveldb::Status;

struct Reads {
	uint64_t index_at = 0;
	int index = 0, others = 0;
};

static std::map<uint64_t, Reads> reads; /* by a table's number */
static std::deque<std::pair<void (*)(void *), void *>> queue;

/* Does LevelDB's background work, here. */
static void drain()
{
	while (!queue.empty()) {
		auto work = queue.front();

		queue.pop_front();
		work.first(work.second);
	}
}

static void check(const Status &status)
{
	if (status.ok())
		return;
	std::fprintf(stderr, "%s\n", status.ToString().c_str());
	std::exit(1);
}

static uint64_t varint(const char *&next)
{
	uint64_t number = 0;

	for (int shift = 0;; shift += 7) {
		unsigned char byte = static_cast<unsigned char>(*next++);

		number |= static_cast<uint64_t>(byte & 0x7f) << shift;
		if ((byte & 0x80) == 0)
			return number;
	}
}

class Table : public leveldb::RandomAccessFile
{
      public:
	/* The footer has two pairs of offset and size: of the metaindex block and the index block.
	 */
	Table(const std::string &path, uint64_t size, leveldb::RandomAccessFile *real)
	    : real_(real),
	      reads_(reads[std::strtoull(path.c_str() + path.rfind('/') + 1, nullptr, 10)])
	{
		enum { FOOTER = 48 };
		char room[FOOTER];
		const char *next;
		Slice footer;

		check(real->Read(size - FOOTER, FOOTER, &footer, room));
		next = footer.data();
		varint(next);
		varint(next);
		reads_.index_at = varint(next);
	}

	~Table() override
	{
		delete real_;
	}

	Status Read(uint64_t offset, size_t size, Slice *result, char *room) const override
	{
		(offset == reads_.index_at ? reads_.index : reads_.others)++;
		return real_->Read(offset, size, result, room);
	}

      private:
	leveldb::RandomAccessFile *real_;
	Reads &reads_;
};

class Counting : public leveldb::EnvWrapper
{
      public:
	Counting() : EnvWrapper(leveldb::Env::Default())
	{
	}

	void Schedule(void (*work)(void *), void *argument) override
	{
		queue.emplace_back(work, argument);
	}

	Status NewRandomAccessFile(const std::string &path,
				   leveldb::RandomAccessFile **file) override
	{
		Status status = target()->NewRandomAccessFile(path, file);
		uint64_t size;

		if (!status.ok())
			return status;
		check(GetFileSize(path, &size));
		*file = new Table(path, size, *file);
		return status;
	}
};

static std::string key_of(int number)
{
	char text[16];

	std::snprintf(text, sizeof(text), "%08d", number);
	return text;
}

static void put(leveldb::DB *db, int number, char letter)
{
	check(db->Put(leveldb::WriteOptions(), key_of(number), std::string(5000, letter)));
	drain();
}

/* So few that LevelDB compacts no table for the seeks in it (db/version_set.cc, allowed_seeks). */
static int get_some(leveldb::DB *db, int keys)
{
	int found = 0;

	for (int number = 0; number < keys; number += 125) {
		std::string value;
		Status status = db->Get(leveldb::ReadOptions(), key_of(number), &value);

		drain();
		found += status.ok();
		if (!status.IsNotFound())
			check(status);
	}
	return found;
}

int main(int, char **arguments)
{
	enum { KEYS = 1000, MOVED = 4000 };
	Counting environment;
	leveldb::Options options;
	leveldb::DB *db;
	std::string tables, line;
	int level = -1, found;

	options.create_if_missing = true;
	options.env = &environment;
	options.compression = leveldb::kNoCompression;
	options.write_buffer_size = 3 << 20;
	options.max_file_size = 1 << 20;
	options.block_cache = leveldb::NewLRUCache(0);
	options.index_levels = std::atoi(arguments[2]);
	check(leveldb::DB::Open(options, arguments[1], &db));
	for (int number = 0; number < KEYS; number++)
		put(db, number, 'a');
	/* The first table is on level 2. Those that follow overlap it or one another: the first is
	 * on level 1, further ones are on level 0. Four of these become more than level 1 takes, of
	 * which most overlap none of level 2 and are moved there. */
	put(db, 0, 'b');
	for (int number = 0; number < MOVED; number++)
		put(db, KEYS + number * 1607 % MOVED, 'b');
	get_some(db, KEYS + MOVED);
	for (auto &table : reads)
		table.second.index = table.second.others = 0;
	found = get_some(db, KEYS + MOVED);
	db->GetProperty("leveldb.sstables", &tables);
	for (std::istringstream lines(tables); std::getline(lines, line);) {
		unsigned long long number;

		if (std::sscanf(line.c_str(), "--- level %d ---", &level) == 1 ||
		    std::sscanf(line.c_str(), "%llu:", &number) != 1)
			continue;
		std::printf("%d %llu %d %d\n", level, number, reads[number].index,
			    reads[number].others);
	}
	std::printf("%d\n", found);
	delete db;
	delete options.block_cache;
	return 0;
}

# LevelDB as Debian has it, linked statically: a board needs no package more.
#   LEVELDB_DIR=DIR   a root with libleveldb-dev and libsnappy-dev of the target; not given:
#                     the host's own release of them, fetched
LEVELDB_DIR ?= build/leveldb
# there is nothing to compile
LIBRARY :=
# The static one comes with g++, which a build root has; every Debian has the other, as apt needs it.
LIBSTDCXX := $(if $(filter build/leveldb,$(LEVELDB_DIR)),-l:libstdc++.so.6,-l:libstdc++.a)

triplet := $(shell $(CC) -print-multiarch)
ENGINE_CPPFLAGS := -isystem $(LEVELDB_DIR)/usr/include
ENGINE_HEADERS := $(LEVELDB_DIR)/usr/include/leveldb/c.h
ENGINE_LDLIBS := $(addprefix $(LEVELDB_DIR)/usr/lib/$(triplet)/,libleveldb.a libsnappy.a) \
  $(LIBSTDCXX) -lpthread -lm

# No root, and nothing is installed.
build/leveldb/usr/include/leveldb/c.h:
	rm -rf build/leveldb.part && mkdir -p build/leveldb.part
	cd build/leveldb.part && apt-get -qq download libleveldb-dev libsnappy-dev && \
	  for package in *.deb; do dpkg -x "$$package" . || exit 1; done
	rm -rf build/leveldb && mv build/leveldb.part build/leveldb

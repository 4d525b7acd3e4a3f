# LevelDB as Debian has it, linked statically: a board needs no package more.
#   ENGINE_ROOT=DIR   a root with libleveldb-dev and libsnappy-dev of the target; not given:
#                     the host's own release of them, fetched
ENGINE_ROOT ?= build/leveldb
# there is nothing to compile
LIBRARY :=
# The static one comes with g++, which a build root has; every Debian has the other, as apt needs it.
LIBSTDCXX := $(if $(filter build/leveldb,$(ENGINE_ROOT)),-l:libstdc++.so.6,-l:libstdc++.a)

triplet := $(shell $(CC) -print-multiarch)
ENGINE_CPPFLAGS := -isystem $(ENGINE_ROOT)/usr/include
ENGINE_HEADERS := $(ENGINE_ROOT)/usr/include/leveldb/c.h
# environment.cc replaces it
waits := _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
ENGINE_LDLIBS := -Wl,--wrap=$(waits) $(addprefix $(ENGINE_ROOT)/usr/lib/$(triplet)/,libleveldb.a libsnappy.a) \
  $(LIBSTDCXX) -lpthread -lm

# No root, and nothing is installed.
build/leveldb/usr/include/leveldb/c.h:
	rm -rf build/leveldb.part && mkdir -p build/leveldb.part
	cd build/leveldb.part && apt-get -qq download libleveldb-dev libsnappy-dev && \
	  for package in *.deb; do dpkg -x "$$package" . || exit 1; done
	rm -rf build/leveldb && mv build/leveldb.part build/leveldb

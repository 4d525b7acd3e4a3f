# LevelDB, linked statically into the driver and the extension.
#   ENGINE_ROOT=DIR   a root with libleveldb-dev and libsnappy-dev of the target; not given:
#                     the host's own release of them, fetched
leveldb_of_host := $(WORKLOADS)build/leveldb
ENGINE_ROOT ?= $(leveldb_of_host)
LEVELDB_HEADER := $(ENGINE_ROOT)/usr/include/leveldb/c.h
# The static one comes with g++, which a build root has; every Debian has the other, as apt needs it.
leveldb_cxx := $(if $(filter $(leveldb_of_host),$(ENGINE_ROOT)),-l:libstdc++.so.6,-l:libstdc++.a)
leveldb_folder := $(ENGINE_ROOT)/usr/lib/$(shell $(CC) -print-multiarch)
LEVELDB_LIBRARY := $(leveldb_folder)/libleveldb.a
LEVELDB_NEEDS := $(leveldb_cxx) -lpthread -lm
# only for drivers
KV_DRIVER := create.c engine.c settings.c

# No root, and nothing is installed.
$(leveldb_of_host)/usr/include/leveldb/c.h:
	rm -rf $(leveldb_of_host).part && mkdir -p $(leveldb_of_host).part
	cd $(leveldb_of_host).part && apt-get -qq download libleveldb-dev libsnappy-dev && \
	  for package in *.deb; do dpkg -x "$$package" . || exit 1; done
	rm -rf $(leveldb_of_host) && mv $(leveldb_of_host).part $(leveldb_of_host)

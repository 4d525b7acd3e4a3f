# For engines with libraries of Debian packages: finds these in a root or downloads them, and sets the flags
# that link them statically and replace their file calls by those of key_values/files.c.
#   PACKAGES         of the target, as in experiments/engine/NAME.yml
#   HEADER           a file of theirs in /usr/include
#   WORKLOADS=DIR/   from where make runs to workloads/
#   ENGINE_ROOT=DIR  a root with these packages; not given: the host's own release of them, fetched
fetched ?= $(WORKLOADS)build/$(ENGINE)
ENGINE_ROOT ?= $(fetched)
LIBRARIES := $(ENGINE_ROOT)/usr/lib/$(shell $(CC) -print-multiarch)
# The static one comes with g++, which a build root has; every Debian has the other, as apt needs it.
LIBSTDCXX := $(if $(filter $(fetched),$(ENGINE_ROOT)),-l:libstdc++.so.6,-l:libstdc++.a)

# for key_values/files.c, which replaces these calls of an engine
replaced := open close write pwrite writev fsync fdatasync msync ftruncate unlink
FILE_CALLS := $(replaced:%=-Wl,--wrap=%)

ENGINE_CPPFLAGS += -isystem $(ENGINE_ROOT)/usr/include
ENGINE_HEADERS += $(ENGINE_ROOT)/usr/include/$(HEADER)

# No root, and nothing is installed.
$(fetched)/usr/include/$(HEADER):
	rm -rf $(fetched).part && mkdir -p $(fetched).part
	cd $(fetched).part && apt-get -qq download $(PACKAGES) && \
	  for package in *.deb; do dpkg -x "$$package" . || exit 1; done
	rm -rf $(fetched) && mv $(fetched).part $(fetched)

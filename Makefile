# kickbench. `make run`: from a fresh machine to a comparison; `make check`: from a fresh machine to passed tests.

BUILD = build
FLAVOUR = plain
CC = cc
CFLAGS_plain = -O2 -g
CFLAGS_asan = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS_tsan = -O1 -g -fsanitize=thread -fno-omit-frame-pointer
CFLAGS_fuzz = -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
CFLAGS = $(CFLAGS_$(FLAVOUR))
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# yes, or no: without it kickbench runs guests that are started by commands (driver = exec), imports, compares, reports.
LIBVIRT = yes
LIBRARIES_yes = libvirt libvirt-qemu libxml-2.0
LIBRARIES_no =
LIBRARIES = $(LIBRARIES_$(LIBVIRT)) jansson inih sqlite3
DEFINES_no = -DKB_NO_LIBVIRT

PKG_CFLAGS = $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
PKG_LIBS = $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null)
COMPILE = $(CC) -std=gnu11 -D_GNU_SOURCE $(DEFINES_$(LIBVIRT)) $(FOUND_DEFINES) -I. $(WARNINGS) $(CFLAGS) $(PKG_CFLAGS) -pthread -MMD -MP
LINK = $(CC) $(CFLAGS) -pthread

OBJ = $(BUILD)/obj/$(FLAVOUR)
OTHER_SYSTEMS = guest/os_bsd.c guest/os_dragonfly.c guest/os_freebsd.c guest/os_netbsd.c guest/os_openbsd.c guest/init_none.c
OPTIONAL_ENGINES = engines/io_uring.c engines/libaio.c engines/posixaio.c engines/pvsync2.c
SHARED = $(filter-out guest/main.c $(OTHER_SYSTEMS) $(OPTIONAL_ENGINES),$(sort $(wildcard guest/*.c engines/*.c))) \
	$(FOUND_SOURCES)

# The options of the probe's jobs are checked before a run, by its own code.
PROBE = images/probe/job.c

# The same engines as in the guest program; sets FOUND_….
include $(shell sh engines/find.sh $(OBJ) linux '$(LINK)')
WITH_LIBVIRT = host/accel.c host/boot_libvirt.c host/boot_libvirt_verify.c host/domain.c host/domain_copy.c \
	host/domain_original.c host/domain_qemu.c host/domain_verify.c host/domain_verify_machine.c $(wildcard host/hypervisor_libvirt*.c)
WITHOUT_LIBVIRT = host/domain_none.c
LEFT_OUT_yes = $(WITHOUT_LIBVIRT)
LEFT_OUT_no = $(WITH_LIBVIRT)
HOST = $(filter-out host/main.c host/os_bsd.c host/os_freebsd.c host/os_openbsd.c $(LEFT_OUT_$(LIBVIRT)),$(sort $(wildcard host/*.c)))
UNIT = $(sort $(wildcard tests/unit/test_*.c))
# The rings of images/probe are pure code over memory: tested here.
HELPERS = $(filter-out $(UNIT),$(sort $(wildcard tests/unit/*.c))) images/probe/ring.c
SIMULATION = $(sort $(wildcard tests/simulation/*.c))
OBJECTS = $(SHARED:%.c=$(OBJ)/%.o) $(HOST:%.c=$(OBJ)/%.o) $(PROBE:%.c=$(OBJ)/%.o)
FUZZ = $(sort $(wildcard tests/fuzz/fuzz_*.c))
TESTS = $(UNIT:tests/unit/%.c=$(BUILD)/$(FLAVOUR)/%)
# Those whose code runs in several threads.
THREADED = agent agent_action agent_alive engines flight index joblog queue run run_faults run_jobs run_reports verify verify_map verify_store

# What is installed when it is missing, for the main job and for the tests. One a line, sorted: two changes do not collide.
NEEDS_RUN = \
	cpio \
	gcc \
	gnuplot-nox \
	kmod \
	libaio-dev \
	libinih-dev \
	libjansson-dev \
	libsqlite3-dev \
	liburing-dev \
	libvirt-clients \
	libvirt-daemon \
	libvirt-daemon-system \
	libvirt-dev \
	libxml2-dev \
	make \
	pkg-config \
	qemu-system-x86 \
	qemu-utils \
	xz-utils
ifeq ($(LIBVIRT),no)
NEEDS_RUN := $(filter-out libvirt% libxml2%,$(NEEDS_RUN))
endif
NEEDS_CHECK = \
	bmake \
	busybox-static \
	chromium \
	clang \
	curl \
	e2fsprogs \
	fio \
	libclang-rt-dev \
	libcmocka-dev \
	libxml2-utils \
	mandoc \
	mtools \
	musl-tools \
	nbdkit \
	nbdkit-plugin-dev \
	python3-pip \
	shellcheck \
	signify-openbsd \
	time \
	valgrind \
	xfsprogs
# What the long tests need beyond the others: makers of the Debian image, and a host at the other end of ssh.
NEEDS_LONG = \
	dosfstools \
	e2fsprogs \
	fakechroot \
	fakeroot \
	fdisk \
	mmdebstrap \
	mtools \
	netcat-openbsd \
	openssh-client \
	openssh-server \
	syslinux \
	syslinux-common

all: $(BUILD)/kickbench $(BUILD)/kickbench.1 $(BUILD)/kickio $(BUILD)/kickio.1

$(BUILD)/kickbench: $(OBJ)/host/main.o $(OBJECTS)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lm

# The guest program has a Makefile of its own, which any make takes; it knows its dependencies.
$(BUILD)/kickio: kickio
kickio:
	+@$(MAKE) --no-print-directory -C guest BUILD=$(abspath $(BUILD))

# The manual pages come from the tables of options, commands and keys.
$(BUILD)/kickio.1: $(BUILD)/kickio
	@$< --man >$@.new
	@mv $@.new $@
$(BUILD)/kickbench.1: $(BUILD)/kickbench
	@$< help --man >$@.new
	@mv $@.new $@

$(BUILD)/$(FLAVOUR)/test_%: $(OBJ)/tests/unit/test_%.o $(HELPERS:%.c=$(OBJ)/%.o) $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lcmocka -lm

$(BUILD)/$(FLAVOUR)/simulate: $(SIMULATION:%.c=$(OBJ)/%.o) $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lm

# What a comparison of many trials costs.
$(BUILD)/$(FLAVOUR)/judge: $(OBJ)/tests/bench/judge.o $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lm

# A proof by resampling, with the statistics that the reports use.
$(BUILD)/$(FLAVOUR)/resample: $(OBJ)/tests/proof/resample.o $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lm

# libFuzzer is clang's: made by fuzz-programs.
$(BUILD)/fuzz/fuzz_%: $(OBJ)/tests/fuzz/fuzz_%.o $(OBJECTS)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -fsanitize=fuzzer -o $@ $^ $(PKG_LIBS) $(FOUND_LIBRARIES) -lm

# kickio linked dynamically, for tests that put a shim between it and the C library.
$(BUILD)/$(FLAVOUR)/kickio: $(OBJ)/guest/main.o $(SHARED:%.c=$(OBJ)/%.o)
	@mkdir -p $(@D)
	@echo "  LD  $@"
	@$(LINK) -o $@ $^ $(FOUND_LIBRARIES) -lm

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	@echo "  CC  $<"
	@$(COMPILE) -c -o $@ $<

# Other flags make other objects.
$(OBJ)/flags: force
	@mkdir -p $(@D)
	@echo '$(COMPILE)' | cmp -s - $@ || echo '$(COMPILE)' >$@

# What kickbench is made of without libvirt, for another system's compiler.
portable-sources:
	@echo host/main.c $(sort $(filter-out host/os_linux.c $(WITH_LIBVIRT),$(HOST)) $(WITHOUT_LIBVIRT)) $(PROBE)

unit-tests: $(TESTS) $(BUILD)/$(FLAVOUR)/kickio

fuzz-targets: $(FUZZ:tests/fuzz/%.c=$(BUILD)/fuzz/%)
fuzz-programs:
	+@$(MAKE) --no-print-directory FLAVOUR=fuzz CC=clang fuzz-targets

threaded-tests: $(THREADED:%=$(BUILD)/$(FLAVOUR)/test_%)

# ---- what users call ----

# A compiler per CPU, unless the caller has said how many.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

# One apt call, said beforehand; nothing when all is there.
install-missing = @missing=; for p in $(1); do \
	dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null || { echo "missing, and there is no apt-get:$$missing" >&2; exit 1; }; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	echo "installing:$$missing"; \
	$$sudo sh -c "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends $$missing"

deps:
	$(call install-missing,$(NEEDS_RUN))

check-deps:
	$(call install-missing,$(NEEDS_RUN) $(NEEDS_CHECK))

image: all
	@images/linux/build.sh $(BUILD)/images/linux $(BUILD)/kickio

# The guest without an operating system. Its script knows whether it is up to date.
$(BUILD)/images/probe/probe.elf: force
	@CC='$(CC)' images/probe/build.sh $(@D)

run: deps
	+@$(MAKE) $(JOBS) --no-print-directory all
	$(BUILD)/kickbench run scenarios/quick.ini

check: check-deps
	+@$(MAKE) $(JOBS) --no-print-directory all unit-tests $(BUILD)/plain/simulate
	+@$(MAKE) $(JOBS) --no-print-directory FLAVOUR=asan unit-tests
	+@$(MAKE) $(JOBS) --no-print-directory FLAVOUR=tsan threaded-tests
	+@$(MAKE) $(JOBS) --no-print-directory fuzz-programs
	@tests/check.sh $(BUILD)

# Every reader of what others wrote, FUZZ_SECONDS each.
FUZZ_SECONDS = 60
fuzz: check-deps
	+@$(MAKE) $(JOBS) --no-print-directory fuzz-programs
	@tests/fuzz/run.sh $(BUILD) $(FUZZ_SECONDS)

check-long: check-deps
	$(call install-missing,$(NEEDS_LONG))
	+@$(MAKE) $(JOBS) --no-print-directory all
	@tests/check-long.sh $(BUILD)

bench:
	$(call install-missing,$(NEEDS_RUN) $(NEEDS_CHECK))
	+@$(MAKE) $(JOBS) --no-print-directory all $(BUILD)/plain/simulate $(BUILD)/plain/judge
	@status=0; tests/bench/bench.sh $(BUILD)/kickio || status=1; tests/bench/guest.sh $(BUILD)/kickio || status=1; \
	tests/bench/report.sh $(BUILD) || status=1; \
	$(BUILD)/plain/judge || status=1; $(BUILD)/plain/simulate --experiments 25000 || status=1; exit $$status

prove: check-deps
	+@$(MAKE) $(JOBS) --no-print-directory all $(BUILD)/plain/resample
	@tests/prove.sh $(BUILD)

PREFIX = /usr/local
install: all $(BUILD)/images/probe/probe.elf
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/kickbench
	install $(BUILD)/kickbench $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/kickio $(DESTDIR)$(PREFIX)/bin
	install $(BUILD)/kickio $(DESTDIR)$(PREFIX)/share/kickbench
	install -m 644 $(BUILD)/images/probe/probe.elf $(DESTDIR)$(PREFIX)/share/kickbench
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(BUILD)/kickbench.1 $(BUILD)/kickio.1 $(DESTDIR)$(PREFIX)/share/man/man1
	cp -R engines guest images scenarios $(DESTDIR)$(PREFIX)/share/kickbench

clean:
	rm -rf $(BUILD)

force:
.PHONY: all bench check check-deps check-long clean deps force fuzz fuzz-programs fuzz-targets image install kickio portable-sources prove \
	run threaded-tests unit-tests
.SECONDARY:

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

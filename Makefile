# SPDX-License-Identifier: GPL-2.0-or-later
# hitm: `make help` lists what can be made here. Every path is relative, so that the checkout may
# lie in a directory whose name has spaces. `make V=1` shows the whole commands.

VERSION  = 0.1.0

# What a builder may set, on the command line or in the environment.
PREFIX  ?= /usr/local
CFLAGS  ?= -O2 -g
WARNINGS ?= -Wall -Wextra -Wshadow -Wconversion -Werror
# SANITIZE=address,undefined or SANITIZE=thread: a separate build under build/$(SANITIZE).
# Threads are clang's by default: it tells its sanitizer of OpenMP's barriers, gcc does not.
ifeq ($(origin CC),default)
CC       = $(if $(findstring thread,$(SANITIZE)),clang,gcc)
endif
CLANG    = $(findstring clang,$(CC))

# What has to be installed, each as TEST:PACKAGE, the package being Debian's. A test is a command, a
# header, or a compiler option with which a program must link.
NEED_build = $(firstword $(CC)):$(if $(CLANG),clang,gcc) stdio.h:libc6-dev yaml.h:libyaml-dev \
	jansson.h:libjansson-dev hwloc.h:libhwloc-dev zlib.h:zlib1g-dev zstd.h:libzstd-dev elfutils/libdwfl.h:libdw-dev \
	libelf.h:libelf-dev bpf/btf.h:libbpf-dev objcopy:binutils \
	$(if $(CLANG),-fopenmp:libomp-dev \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE):libclang-rt-dev))
NEED_demo  = $(NEED_build) gnuplot:gnuplot-nox
NEED_check = $(NEED_demo) CUnit/Basic.h:libcunit1-dev rumur:rumur
NEED_lint  = clang-format:clang-format

# --- Where things are ------------------------------------------------------------------------------

B        = build$(if $(SANITIZE),/$(SANITIZE))
DATADIR  = $(PREFIX)/share/hitm

# The library: every floor but the command line, and the models on top.
LIB_DIRS = $(filter-out sim/cli/,$(wildcard sim/*/ models/))
LIB_SRC  = $(filter-out $(NATIVE_BODIES),$(wildcard $(addsuffix *.c,$(LIB_DIRS)) \
	$(addsuffix *.S,$(LIB_DIRS))))
# The models once more, for real threads.
NATIVE_BODIES = sim/native/bodies.c
NATIVE_SRC = $(wildcard models/*.c) $(NATIVE_BODIES)
native   = $(patsubst %,$(B)/native/%.o,$(1))
CLI_SRC  = $(wildcard sim/cli/*.c)
UNIT_SRC = $(wildcard tests/unit/*.c tests/protocol/*.c)
BENCH_SRC = $(wildcard tests/bench/*.c)
# A fuzz target is one file, fuzz_NAME.c, over the library and what of the command reads files.
FUZZ    ?= $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_CLI = $(wildcard sim/cli/plot_*.c)
C_FILES  = $(sort $(wildcard $(foreach dir,sim/* models traces tests/* tests/kernel/shim,$(dir)/*.c $(dir)/*.h)))

objects  = $(patsubst %,$(B)/obj/%.o,$(1))

# --- How things are compiled -----------------------------------------------------------------------

SANITIZE_FLAGS = $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
	-fno-omit-frame-pointer)
# Results are the same bytes on every compiler, so no compiler may fuse multiplications and additions.
COMPILE  = $(CC) -std=gnu17 $(WARNINGS) -I. -Isim $(CPPFLAGS) -DHITM_VERSION='"$(VERSION)"' \
	-DHITM_DATADIR='"$(DATADIR)"' -fopenmp -pthread -ffp-contract=off $(SANITIZE_FLAGS) $(CFLAGS)
LDLIBS   = -lyaml -ljansson -lhwloc -ldw -lelf -lbpf -lz -lzstd -lm

Q        = $(if $(V),,@)
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.PHONY: all demo check check-kernel fuzz bench install uninstall clean format lint help
.DEFAULT_GOAL = all

all: $(B)/hitm ## build the command, build/hitm, and its library, build/libhitm.a

# What is made of a folder's files depends on the folder too: its date changes when a file comes or goes.
$(B)/libhitm.a: $(call objects,$(LIB_SRC)) $(B)/native/models.o $(LIB_DIRS)
	@echo "  AR      $@"
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# The same names as in the simulator's copies: all but the table of bodies become local.
$(B)/native/models.o: $(call native,$(NATIVE_SRC)) models/
	@echo "  LD      $@"
	$(Q)ld -r -o $@ $(filter %.o,$^) && objcopy --localize-hidden $@

$(B)/hitm: $(call objects,$(CLI_SRC)) sim/cli/
$(B)/tests/unit: $(call objects,$(UNIT_SRC)) tests/unit/ tests/protocol/
$(B)/tests/unit: LDLIBS += -lcunit
$(B)/tests/bench: $(call objects,$(BENCH_SRC)) tests/bench/
$(B)/hitm $(B)/tests/unit $(B)/tests/bench: $(B)/libhitm.a
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $(filter %.o,$^) $(B)/libhitm.a $(LDLIBS)

# With libFuzzer in a build for it, SANITIZE=fuzzer-no-link,..., else with a driver that does without.
LIBFUZZER = $(findstring fuzzer-no-link,$(SANITIZE))
FUZZ_SRC = tests/fuzz/fuzz.c $(if $(LIBFUZZER),,tests/fuzz/driver.c) $(FUZZ_CLI)
.PHONY: fuzz-targets
fuzz-targets: $(FUZZ:%=$(B)/fuzz/%)
$(FUZZ:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/obj/tests/fuzz/fuzz_%.c.o $(call objects,$(FUZZ_SRC)) $(B)/libhitm.a
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(if $(LIBFUZZER),-fsanitize=fuzzer) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Preloaded, it makes the command's calls to the system fail. A sanitizer would have to come before it.
FAULTS   = $(if $(SANITIZE),,$(B)/tests/faults.so)
$(B)/tests/faults.so: tests/faults/faults.c $(B)/command
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -shared -fPIC -o $@ $<

# What `hitm record` is tried on: its symbols have their addresses in the file, and no sanitizer touches its
# memory.
PAGES    = $(B)/tests/pages
$(PAGES): traces/pages.c $(B)/command
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 $(WARNINGS) -O2 -g -fno-pie -no-pie -pthread -o $@ $<

# The kernel's own counter, for whoever links it: tests/kernel/kernel_counter.h. tests/kernel/fetch has put
# its source there. Nothing but the shim stands in for the rest of the kernel.
KERNEL_COMPILE = $(CC) -std=gnu11 -O2 -g -fno-strict-aliasing -fwrapv -nostdinc -Itests/kernel/shim
build/kernel/%/page_counter.o: build/kernel/%/mm/page_counter.c $(wildcard tests/kernel/shim/*.h)
	@echo "  CC      $<"
	$(Q)$(KERNEL_COMPILE) -Ibuild/kernel/$*/include -c -o $@ $<

# The model beside it; with MISTAKE=NAME the copy that tests/kernel/check has made a mistake in.
DIFFERENTIAL = $(if $(MISTAKE),differential-$(MISTAKE),differential)
$(B)/kernel/%/$(DIFFERENTIAL): $(call objects,tests/kernel/differential.c) build/kernel/%/page_counter.o \
		$(if $(MISTAKE),$(call objects,build/kernel/mistakes/$(MISTAKE).c)) $(B)/libhitm.a
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(B)/kernel/%/timing: $(call objects,tests/kernel/timing.c tests/kernel/timing_kernel.c) build/kernel/%/page_counter.o \
		$(B)/libhitm.a
	@echo "  LINK    $@"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# C and assembly alike: build/obj/sim/engine/queue.c.o comes from sim/engine/queue.c.
$(B)/obj/%.o: % $(B)/command
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

$(B)/native/%.c.o: %.c $(B)/command
	@echo "  CC      $< (native)"
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -DACCESS_NATIVE -fvisibility=hidden -MMD -MP -c -o $@ $<

# build/command holds the command that compiled what is there; another command compiles it anew.
ifneq ($(strip $(COMPILE) $(LDFLAGS)),$(strip $(file <$(B)/command)))
.PHONY: $(B)/command
endif
$(B)/command: export COMMAND = $(COMPILE) $(LDFLAGS)
$(B)/command:
	@mkdir -p $(@D)
	@printf '%s\n' "$$COMMAND" >$@

-include $(patsubst %.o,%.d,$(call native,$(NATIVE_SRC)) $(call objects,$(LIB_SRC) $(CLI_SRC) \
	$(UNIT_SRC) $(BENCH_SRC) $(wildcard tests/fuzz/*.c tests/kernel/*.c)))

# --- What is done with them ------------------------------------------------------------------------

DEMO = out/memcg-2022

demo: setup-demo ## install what is missing, build, predict the 2022 memcg series and draw it
	@$(MAKE) --no-print-directory all
	@echo "simulating: about a minute on two cores"
	@$(B)/hitm run memcg-2022 --ideal layout --ideal atomics --table --out $(DEMO)
	@$(B)/hitm plot --out $(DEMO) $(DEMO)/results-skx-2s-18c.json $(DEMO)/results-hsw-2s-18c.json
	@echo "where the time went, and which field cost which: $(DEMO)/report-*.txt"

check: setup-check ## install what is missing, build, and run every test (TESTS=... some of them)
	@$(MAKE) --no-print-directory all $(B)/tests/unit $(FAULTS) $(PAGES)
	$(if $(TESTS)$(SANITIZE),,$(B)/hitm check)
	$(strip $(TEST_ENV)) $(B)/tests/unit $(TESTS)

# tests/*/*.sh find the command under test in $HITM. gcc's OpenMP looks like races to the thread
# sanitizer, hence has one thread there; clang's does not once told to look at our own code alone.
TEST_ENV = HITM=$(B)/hitm $(if $(findstring undefined,$(SANITIZE)),UBSAN_OPTIONS=print_stacktrace=1) \
	$(if $(findstring thread,$(SANITIZE)),$(if $(CLANG),\
	TSAN_OPTIONS=ignore_noninstrumented_modules=1,OMP_THREAD_LIMIT=1))

# The layouts' other structs take half a minute more: FULL=1. TIME=1 also times the counter and its model.
check-kernel: setup-build ## hold model and layouts against the kernel's own code (KERNEL=<tree> or Debian's 6.1, 6.12)
	@$(MAKE) --no-print-directory all
	$(strip $(TEST_ENV)) FULL=$(FULL) TIME=$(TIME) bash tests/kernel/check $(if $(KERNEL),'$(KERNEL)')

SECONDS  ?= 60
FUZZ_SANITIZE ?= fuzzer-no-link,address,undefined
fuzz: all ## run each fuzz target for SECONDS (60) with clang's libFuzzer; FUZZ="NAME..." some of them
	@$(MAKE) --no-print-directory CC=clang SANITIZE=$(FUZZ_SANITIZE) setup-build
	@$(MAKE) --no-print-directory CC=clang SANITIZE=$(FUZZ_SANITIZE) fuzz-targets
	@bash tests/fuzz/run build/$(FUZZ_SANITIZE)/fuzz $(SECONDS) $(FUZZ)

bench: setup-build ## build and run the benchmarks
	@$(MAKE) --no-print-directory $(B)/tests/bench
	$(B)/tests/bench

install: all ## install under $(DESTDIR)$(PREFIX), /usr/local unless set
	install -D -m 755 $(B)/hitm "$(DESTDIR)$(PREFIX)/bin/hitm"
	install -D -m 644 sim/cli/hitm.1 "$(DESTDIR)$(PREFIX)/share/man/man1/hitm.1"
	find configs plots -type f -exec install -D -m 644 {} "$(DESTDIR)$(DATADIR)/{}" \;

uninstall: ## remove what install has put there, and nothing else
	rm -f "$(DESTDIR)$(PREFIX)/bin/hitm" "$(DESTDIR)$(PREFIX)/share/man/man1/hitm.1"
	find configs plots -type f -exec rm -f "$(DESTDIR)$(DATADIR)/{}" \;
	[ ! -d "$(DESTDIR)$(DATADIR)" ] || find "$(DESTDIR)$(DATADIR)" -type d -empty -delete

clean: ## remove build/, and with it the builds for sanitizers
	rm -rf build

format: setup-lint ## lay out every C file as .clang-format says
	clang-format -i $(C_FILES)

lint: setup-lint ## check the layout of every C file, and look for mistakes with cppcheck
	clang-format --dry-run -Werror $(C_FILES)
	@command -v cppcheck >/dev/null || { echo "lint: no cppcheck here: only the layout was checked"; exit; }; \
	set -x; cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability \
		--inline-suppr --suppress=unknownMacro --std=c11 -I. -Isim $(filter %.c,$(C_FILES))

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' Makefile

# --- Set-up ----------------------------------------------------------------------------------------

# Asks the network for nothing when nothing is missing.
APT      = apt-get -qq -o DPkg::Lock::Timeout=300

.PHONY: setup-build setup-demo setup-check setup-lint
setup-build setup-demo setup-check setup-lint: setup-%:
	@mkdir -p $(B); missing=; packages=; \
	for need in $(NEED_$*); do \
		test=$${need%:*}; \
		case $$test in \
		*.h) echo "#include <$$test>" | $(CC) -E - ;; \
		-*) echo 'int main(void) { return 0; }' | $(CC) $$test -x c -o $(B)/linked - ;; \
		*) command -v $$test ;; \
		esac >/dev/null 2>&1 || { missing="$$missing $$test"; packages="$$packages $${need##*:}"; }; \
	done; \
	[ "$$missing" ] || exit 0; \
	if [ $$(id -u) = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing$$packages"; \
		export DEBIAN_FRONTEND=noninteractive; \
		$(APT) update; \
		$(APT) install -y --no-install-recommends $$packages </dev/null >$(B)/install.log 2>&1 || \
			{ cat $(B)/install.log; exit 1; }; \
	else \
		echo "missing here:$$missing. On Debian, this installs what they are in:"; \
		echo "sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends$$packages'"; \
		exit 1; \
	fi >&2

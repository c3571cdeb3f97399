# SPDX-License-Identifier: Apache-2.0
# All of DAWN, non-recursive: every folder's sources are found by wildcard, every object lies under $(B).
# SAN=address,undefined and the fuzzers build into folders of their own, so that they never mix.
.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
# All processors, unless -j was given: a command line's -j wins over this one, and a make that another one started shares its
# jobs. Goals of whose recipes each runs a make, or that remove what others build, do not run at once.
APART := demo cuda check check-threads fuzz deb deps clean
ifeq ($(MAKELEVEL),0)
ifeq ($(and $(word 2,$(MAKECMDGOALS)),$(filter $(APART),$(MAKECMDGOALS))),)
MAKEFLAGS += $(if $(filter -j% --jobs%,$(shell echo "$$MAKEFLAGS")),,-j$(shell nproc))
endif
endif

ifeq ($(origin CC),default)
CC = gcc
endif
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 20
WERROR ?= -Werror
comma := ,
B := build$(if $(SAN),-san-$(subst $(comma),-,$(SAN)))
IN := $(if $(SAN)$(FUZZING),$(B)/)
PROGRAM := $(IN)dawn
BOARD := $(IN)dawn-scoreboard
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$(2)')

# ---- flags -------------------------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(WERROR)
# A sanitizer's report needs lines and no variables, and without these a file compiles in three quarters of the time.
OPTIMISE := $(if $(SAN),-O1 -g1,-O2 -g)
GCC_ONLY := $(if $(findstring clang,$(CC)),,-Wno-maybe-uninitialized)  # false positives under sanitizers
SANITISE := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer $(GCC_ONLY))
ifdef FUZZING
SANITISE += -fsanitize=fuzzer-no-link
# clang alone: map.def joins comparisons by | and & to have no branches, and the sanitizers keep loops from being vectorized
WARN += -Wno-bitwise-conditional-parentheses -Wno-bitwise-instead-of-logical -Wno-pass-failed
endif
BASE_FLAGS := -std=c17 -D_GNU_SOURCE $(OPTIMISE) $(SANITISE) $(WARN) -I. -fopenmp-simd
LIBS := -ldnnl -lsqlite3 -lcurl -ljansson -lpng -ljpeg -larchive -lutf8proc -lsodium -lm -lpthread
# The server faces the network: no oneDNN, no CUDA, no curl, no image or archive decoder.
BOARD_LIBS := -lsqlite3 -lmicrohttpd -ljansson -lutf8proc -lsodium -lm -lpthread

# Own vector loops: three builds of one source, chosen among at run time. NaN and infinity stay honest. Sums are not
# re-ordered: -fassociative-math would simplify the rounding in element_exp() away and make it wrong by orders.
LOOPS := -fno-math-errno -fno-trapping-math -fno-signed-zeros -ffp-contract=fast
ISA_base := -DISA=base
ISA_avx2 := -DISA=avx2 -mavx2 -mfma -mf16c
ISA_avx512 := -DISA=avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mf16c -mprefer-vector-width=512
# The compiler's target counts, because it may be a cross compiler.
ISAS := base avx2 avx512
ifneq ($(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null))),x86_64)
ISAS := base
BASE_FLAGS += -DISA_ONLY_BASE
endif

# CUDA is optional: where a toolkit that works is missing (or with CUDA=no) the same sources build the CPU program, whose
# device "cuda" says what is missing. cuDNN, cuBLASLt and NVML are loaded when they are first needed, never linked.
# make CUDA=/usr/local/cuda takes the toolkit there or fails; an environment variable CUDA is ignored: it often holds a version.
# Without the driver's library, which the program itself looks for, the device could not be opened. The program then has it only
# where it was asked for: make cuda, CUDA=FOLDER, NVCC=FILE; later makes remember that in $(B)/program.list. Tests need no driver.
NVCC ?= nvcc
ifneq ($(origin CUDA),command line)
override CUDA :=
endif
CUDA_ASKED := $(CUDA)
ifneq ($(filter-out no,$(CUDA_ASKED)),)
$(if $(and $(filter /%,$(CUDA)),$(wildcard $(CUDA)/bin/nvcc)),,$(error CUDA=$(CUDA): CUDA is "no" or the folder of a toolkit, \
    in which there is bin/nvcc))
NVCC := $(CUDA)/bin/nvcc
endif
ifneq ($(CUDA_ASKED),no)
WANTED := $(if $(or $(CUDA_ASKED),$(filter cuda check-gpu,$(MAKECMDGOALS)),$(filter command,$(origin NVCC)), \
    $(filter asked,$(shell cat $(B)/program.list 2>/dev/null))),asked,$(shell PATH="$$PATH:/usr/sbin:/sbin" ldconfig -p 2>/dev/null | \
    grep -q '^.libcuda\.so\.1 ' && echo driver))
override CUDA := $(strip $(if $(filter-out help clean deps lint uninstall $(if $(WANTED),,all demo install deb release),$(or $(MAKECMDGOALS), \
    all)),$(shell CC='$(CC)' test/deps.sh cuda '$(NVCC)' build/cuda-toolkit),no))
ifneq ($(filter /%,$(firstword $(CUDA))),)
NVCC := $(word 2,$(CUDA))
override CUDA := $(firstword $(CUDA))
else
$(if $(CUDA_ASKED),$(if $(filter-out no,$(CUDA)),$(error CUDA=$(CUDA_ASKED): $(CUDA))))
endif
endif
CUDA_MISSING := $(if $(filter no,$(CUDA_ASKED))$(WANTED),$(CUDA),no driver)
ifneq ($(filter /%,$(firstword $(CUDA))),)
CUDA_INCLUDE := -isystem $(CUDA)/include
CUDA_LIBS := -L$(CUDA)/lib64 -L$(CUDA)/lib -Wl,-rpath,$(CUDA)/lib64:$(CUDA)/lib -lcudart_static -lstdc++ -ldl -lrt
CUDA_SOURCES := $(filter-out runtime/cuda/absent.c runtime/cuda/dnn/dnn_cache.c, \
    $(wildcard runtime/cuda/*.c runtime/cuda/ops/*.c runtime/cuda/dnn/*.c))
KERNELS := $(wildcard runtime/cuda/kernels/k_*.cu)
KERNEL_OBJECTS := $(KERNELS:%.cu=build/%.o)
# Linked before libdawn.a, so that device_cuda is this one, not absent.c's.
WITH_CUDA := -Wl,-u,device_cuda $(B)/libcuda.a
ON_CUDA := $(WITH_CUDA) build/libkernels.a
else ifneq ($(WANTED),)
ifeq ($(filter nvcc-was-not-found,$(subst $() ,-,$(CUDA))),)
# Printed at the end of make: there is a toolkit, but it cannot be used.
CUDA_LACKS := $(CUDA)
endif
endif
PROGRAM_HAS := $(if $(WANTED),$(ON_CUDA))
# Machine code for Hopper, and PTX that the driver compiles for every GPU since Ampere.
CUDA_ARCHS ?= -gencode arch=compute_90,code=sm_90 -gencode arch=compute_80,code=compute_80
CUDA_FLAGS := -std=c++17 -O3 -I. $(CUDA_ARCHS) -lineinfo -Xptxas -v -Werror all-warnings -Xcompiler -Wall,-Wextra

# MPI is optional: where mpicc is missing (or with MPI=no) the program trains on one device and says so under mpirun. With it a
# plug-in is compiled and embedded, so that the program does not link MPI (docs/decisions/ranks.md).
MPICC ?= mpicc
MPI_PLUGIN := $(if $(filter no,$(MPI)),,$(if $(shell command -v $(MPICC)),$(B)/dawn-mpi.so))

# libFLAC is optional: where its header is missing (or with FLAC=no) the program reads the other forms of sound and says so.
FLAC_LIBS := $(if $(filter no,$(FLAC)),,$(shell echo '\#include <FLAC/stream_decoder.h>' | $(CC) -E - >/dev/null 2>&1 && echo -lFLAC))
LIBS += $(FLAC_LIBS)

# ---- sources -----------------------------------------------------------------------------------------------------
# A folder is a room. FOLDERS lists the folders of the program dawn (runtime/cuda is above), BOARD_FOLDERS the server's.
FORMAT := submit/format $(addprefix submit/format/,check score ssh)
GROUND := $(addprefix runtime/common/,base cli draw)  # what every folder may use
rooms = $(sort $(patsubst %/,%,$(dir $(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c))))
FOLDERS := $(GROUND) runtime $(addprefix runtime/,ranks op plan checkpoint cases null ref cpu cpu/loops cpu/conv cpu/product cpu/tiles) \
    $(call rooms,data) $(call rooms,tasks) submit $(addprefix submit/,results results/machine log keys client) $(FORMAT)
BOARD_FOLDERS := $(GROUND) $(FORMAT) submit/log \
    scoreboard $(addprefix scoreboard/,http api store $(addprefix store/,file tree boards types) rank pages pages/run dawnbench site)
LOOP_SOURCES := $(wildcard runtime/cpu/loops/*.c) data/image/scale_loops.c tasks/common/frechet/matrix_loops.c tasks/wgan/nearest_loops.c
SOURCES := $(filter-out $(LOOP_SOURCES),$(wildcard $(FOLDERS:%=%/*.c))) runtime/cuda/absent.c runtime/cuda/dnn/dnn_cache.c
EMBEDDED := $(sort data/read/imagenet/synsets.txt $(wildcard data/read/voc/*.txt data/read/positions/*.txt tasks/*/contest.json tasks/*/recipes/*.json submit/results/schema/*.sql submit/results/*.json submit/format/*/*.json \
    runtime/common/draw/style.css tasks/tools/outside/dawn.py) runtime/cuda/dnn/choices.json $(MPI_PLUGIN))
OBJECTS := $(SOURCES:%.c=$(B)/%.o) $(foreach i,$(ISAS),$(LOOP_SOURCES:%.c=$(B)/%.$(i).o)) $(B)/embedded.o \
    $(addprefix $(B)/registry/,task_folders.o recipe_tables.o kind_folders.o)
DATA_OBJECTS := $(filter $(B)/data/%.o $(GROUND:%=$(B)/%/%.o),$(OBJECTS)) $(B)/embedded.o $(B)/registry/kind_folders.o
# A folder of tasks with a contest is a task, one of data/read a kind of file: what they offer is found here (registry_rule).
TASKS := $(foreach t,$(patsubst tasks/%/contest.json,%,$(wildcard tasks/*/contest.json)),$(if $(wildcard tasks/$(t)/$(t).c),$(t)))
KINDS := $(sort $(patsubst data/read/%/,%,$(dir $(wildcard data/read/*/*.c))))
BOARD_SOURCES := $(filter-out scoreboard/main.c,$(wildcard $(BOARD_FOLDERS:%=%/*.c)))
BOARD_EMBEDDED := $(sort runtime/common/draw/style.css $(wildcard tasks/*/contest.json submit/format/*/*.json scoreboard/store/file/schema/*.sql scoreboard/pages/assets/*) \
    $(patsubst %,$(B)/docs/%.html,rules submit record statements threats))
BOARD_OBJECTS := $(BOARD_SOURCES:%.c=$(B)/%.o) $(B)/board-embedded.o
# Tests and fuzzers of the server and tests of data/ link its library alone, so that they prove the layering: test/unit/scoreboard/,
# fuzz_board_*, test/unit/data/.
UNIT := $(patsubst %.c,$(B)/%,$(filter-out $(if $(CUDA_INCLUDE),,test/unit/runtime/test_dnn_plans.c),$(wildcard test/unit/test_*.c test/unit/*/test_*.c)))
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard test/fuzz/fuzz_*.c))
FAULTS := $(patsubst %.c,$(B)/%,$(wildcard test/fault/*.c))
# The tests of the CUDA device are linked twice: with the emulator, for every machine with the toolkit, and with the
# real runtime, for machines with a GPU (except the tests that need the emulator).
EMULATED := $(if $(KERNELS),$(patsubst test/cuda/%.c,$(B)/test/emulated/%,$(wildcard test/cuda/test_*.c)))
ON_GPU := $(if $(KERNELS),$(patsubst test/cuda/%.c,$(B)/test/on_gpu/%,$(shell grep -LE "emulate_test.h|fixture_emulator.h|fixture_placed.h" test/cuda/test_*.c)))
RUN := ALONE='$(strip make $(filter-out TEST=%,$(MAKEOVERRIDES)) one) TEST=' DAWN='$(CURDIR)/$(PROGRAM)' BOARD='$(CURDIR)/$(BOARD)' FAULT='$(CURDIR)/$(B)/test/fault' \
    EMULATED='$(if $(KERNELS),$(CURDIR)/$(B)/test/emulate/dawn)' ON_GPU='$(if $(KERNELS),$(CURDIR)/$(B)/gpu/dawn)' \
    NVCC='$(NVCC)' $(SAN:%=ONEDNN_MAX_CPU_ISA=$${ONEDNN_MAX_CPU_ISA:-AVX512_CORE_BF16} TEST_SECONDS=$${TEST_SECONDS:-1500}) test/run.sh
# With SAN: oneDNN 2.6 reads one element past a table of its own when it builds a convolution for AMX, where the sanitizers' allocator may
# end the memory. DAWN's own tiles stay. On a busy machine two long scenarios need more than ten minutes there.

.PHONY: all demo cuda check one emulated check-gpu gpu-bundle check-unit check-cli check-threads check-board check-feed check-roots lint fuzz fuzz-run fault bench-convs bench-encoder bench-images bench-linear-xent bench-games bench-isa bench-loops bench-board bench-connect4 bench-fid bench-maskrcnn \
	install uninstall deb release clean deps help tests FORCE
all: $(PROGRAM) $(BOARD)  ## build ./dawn and ./dawn-scoreboard (the default)
	$(if $(CUDA_LACKS),@echo 'dawn: built without the device cuda: $(CUDA_LACKS)')

cuda:  ## build ./dawn with the device cuda though there is no NVIDIA driver here (CUDA=no: without it again)
	$(if $(KERNELS),,$(error make cuda: $(CUDA)))
	@$(MAKE) --no-print-directory NVCC='$(NVCC)' all

# The archives of WITH_CUDA and of ON_CUDA come first, in their order.
link_program = $(CC) $(BASE_FLAGS) $(filter %.o,$^) $(1) $(B)/libdawn.a $(LIBS) $(if $(1),$(CUDA_LIBS))
$(PROGRAM): $(B)/dawn.o $(filter %.a,$(PROGRAM_HAS)) $(B)/libdawn.a $(B)/program.list
	$(call say,LINK,$@)
	$(Q)$(call link_program,$(PROGRAM_HAS)) -o $@

$(B)/libcuda.a: $(CUDA_SOURCES:%.c=$(B)/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) crs $@ $^
build/libkernels.a: $(KERNEL_OBJECTS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) crs $@ $^

$(B)/libdawn.a: $(OBJECTS) $(B)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) crs $@ $(OBJECTS)

$(B)/libdata.a: $(DATA_OBJECTS) $(B)/objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) crs $@ $(DATA_OBJECTS)

$(BOARD): $(B)/scoreboard/main.o $(B)/libboard.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(BOARD_LIBS) -o $@

$(B)/libboard.a: $(BOARD_OBJECTS) $(B)/board-objects.list
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) crs $@ $(BOARD_OBJECTS)

$(B)/%.o: %.c $(B)/flags.list
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $(EXTRA) -MMD -MP -c $< -o $@

$(CUDA_SOURCES:%.c=$(B)/%.o): EXTRA = $(CUDA_INCLUDE)
$(CUDA_SOURCES:%.c=$(B)/%.o): $(B)/cuda.list
$(B)/runtime/cuda/absent.o: EXTRA = -DCUDA_MISSING='"$(CUDA_MISSING)"'
$(B)/runtime/cuda/absent.o: $(B)/absent.list
$(B)/runtime/ranks/ranks.o: EXTRA = -DMPI_PLUGIN='"$(B)/dawn-mpi.so"'
$(B)/data/audio/flac.o: EXTRA = $(if $(FLAC_LIBS),-DWITH_FLAC)
$(B)/data/audio/flac.o: $(B)/flac.list
$(B)/dawn-mpi.so: runtime/ranks/mpi/mpi.c runtime/ranks/plugin.h
	$(call say,MPICC,$@)
	@mkdir -p $(@D)
	$(Q)$(MPICC) -std=c17 -O2 -Wall -Wextra $(WERROR) -I. -fPIC -shared -Wl,-soname,dawn-mpi.so $< -o $@

# The host's sanitizers do not change kernels, so they are built once; the output of ptxas is kept for the budget.
build/runtime/cuda/kernels/k_%.o: runtime/cuda/kernels/k_%.cu build/cuda-flags.list
	$(call say,NVCC,$<)
	@mkdir -p $(@D)
	$(Q)$(NVCC) $(CUDA_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@ 2>$(@:.o=.ptxas) || { cat $(@:.o=.ptxas); exit 1; }
build/cuda-flags.list: FORCE
	$(call write_if_new,$(CUDA) $(CUDA_FLAGS))

define loops_rule
$(B)/%.$(1).o: %.c $(B)/flags.list
	$$(call say,CC,$$< ($(1)))
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(BASE_FLAGS) $(if $(SAN),-O2,-O3) $$(LOOPS) $$(ISA_$(1)) -MMD -MP -c $$< -o $$@
endef
$(foreach i,$(ISAS),$(eval $(call loops_rule,$(i))))

# Under sanitizers trainings spend most of their time here: with -O2 they take 40% less.
ifdef SAN
$(filter $(B)/runtime/cpu/%.o,$(SOURCES:%.c=$(B)/%.o)) $(B)/data/read/synthetic.o: EXTRA = -O2
endif

# Only one file knows the commit. Outside a checkout of its own (a tarball, perhaps inside another one) there is none.
COMMIT = $(shell test -z "$$(git rev-parse --show-prefix 2>&1)" && git rev-parse -q --verify HEAD 2>/dev/null)
DIRTY = $(shell test -n "$$(git status --porcelain -- Makefile dawn.c $(FOLDERS) scoreboard 2>/dev/null)" && echo 1 || echo 0)
COMMIT_FLAGS = -DDAWN_COMMIT='"$(COMMIT)"' -DDAWN_DIRTY=$(if $(COMMIT),$(DIRTY),0)
$(B)/runtime/common/base/build.o: EXTRA = $(COMMIT_FLAGS) -DDAWN_FLAGS='"$(OPTIMISE)$(if $(SAN), -fsanitize=$(SAN))"'
$(B)/runtime/common/base/build.o: $(B)/commit.list

# Files inside a program: one object with a table (runtime/common/base/embed.h).
define embed_rule
$(B)/$(1).c: $(2) $(B)/$(1).list Makefile
	$$(call say,EMBED,$$@)
	$$(Q){ i=0; echo '#include "runtime/common/base/embed.h"'; \
	for f in $(2); do i=$$$$((i + 1)); echo "extern const char embedded_$$$$i[];"; \
	    printf '__asm__(".pushsection .rodata\\n.global embedded_%d\\nembedded_%d: .incbin \\"%s\\"\\n.byte 0\\n.popsection");\n' $$$$i $$$$i $$$$f; done; \
	i=0; echo 'const struct embedded embedded_files[] = {'; \
	for f in $(2); do i=$$$$((i + 1)); echo "    {\"$$$${f#$(B)/docs/}\", embedded_$$$$i, $$$$(wc -c <$$$$f)},"; done; \
	echo '    {0},'; echo '};'; } >$$@
$(B)/$(1).o: $(B)/$(1).c
	$$(Q)$$(CC) $$(BASE_FLAGS) -Wno-missing-field-initializers -c $$< -o $$@
$(B)/$(1).list: FORCE
	$$(call write_if_new,$(2))
endef
$(eval $(call embed_rule,embedded,$(EMBEDDED)))
$(eval $(call embed_rule,board-embedded,$(BOARD_EMBEDDED)))

# Tables of what folders offer: the table, its header, the type of a row's target, the rows' declaration and value (@: the folder),
# the folders.
define registry_rule
$(B)/registry/$(1).c: $(B)/registry/$(1).list Makefile
	$$(call say,TABLE,$$@)
	$$(Q)printf '%s\n' '#include "$(2)"' $(foreach f,$(6),'extern $(3) $(subst @,$(f),$(4));') \
	    '$(3) *const $(1)[] = {$(foreach f,$(6),$(subst @,$(f),$(5))$(comma)) NULL};' >$$@
$(B)/registry/$(1).o: $(B)/registry/$(1).c $(B)/flags.list
	$$(Q)$$(CC) $$(BASE_FLAGS) -MMD -MP -c $$< -o $$@
$(B)/registry/$(1).list: FORCE
	$$(call write_if_new,$(6))
endef
$(eval $(call registry_rule,task_folders,tasks/tasks.h,const struct task *const,tasks_@[],tasks_@,$(TASKS)))
$(eval $(call registry_rule,recipe_tables,tasks/common/recipe/recipe_keys.h,const struct recipe_table,recipe_table_@,&recipe_table_@,$(TASKS)))
$(eval $(call registry_rule,kind_folders,data/kind.h,const struct kind *const,kinds_@[],kinds_@,$(KINDS)))

$(B)/docs/%.html: docs/%.md scoreboard/pages/document.py
	$(call say,PAGE,$@)
	@mkdir -p $(@D)
	$(Q)python3 scoreboard/pages/document.py $< >$@

# A list is written only when it changes; what is made from it is then made again.
write_if_new = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
$(B)/objects.list: FORCE
	$(call write_if_new,$(OBJECTS))
$(B)/board-objects.list: FORCE
	$(call write_if_new,$(BOARD_OBJECTS))
$(B)/flags.list: FORCE
	$(call write_if_new,$(CC) $(BASE_FLAGS) $(LOOPS))
$(B)/emulate.list: FORCE
	$(call write_if_new,$(CXX) $(EMULATE_FLAGS))
$(B)/cuda.list: FORCE
	$(call write_if_new,$(CUDA))
$(B)/flac.list: FORCE
	$(call write_if_new,$(FLAC_LIBS))
$(B)/absent.list: FORCE
	$(call write_if_new,$(CUDA_MISSING))
$(B)/program.list: FORCE
	$(call write_if_new,$(if $(PROGRAM_HAS),$(WANTED)))
$(B)/commit.list: FORCE
	$(call write_if_new,$(COMMIT_FLAGS))

# ---- what people ask for -----------------------------------------------------------------------------------------
demo:  ## install what is missing, build, train on synthetic images, submit the run to a scoreboard of one's own
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory all
	./$(PROGRAM) train cifar10 --data synthetic
	./$(PROGRAM) results show last
	@DAWN=./$(PROGRAM) BOARD=./$(BOARD) test/demo.sh

# What no sanitizer sees more in: rules on sources, reports of ptxas, make, and a script that waits for programs that pretend.
UNSEEN := lint $(patsubst %,test/cli/%.sh,bench_isa cuda_budget documents gpu_first make runner)
check:  ## build and run every test (SAN=address,undefined: under the sanitizers, what runs our programs)
	@$(MAKE) --no-print-directory deps
	@test/deps.sh test
	@$(MAKE) --no-print-directory all tests
	@$(RUN) $(filter-out $(if $(SAN),$(UNSEEN)),lint $(wildcard test/cli/*.sh)) $(EMULATED) $(UNIT)  # long ones first, so that none of them runs alone at the end

check-unit: tests  ## the unit tests alone; one of them: build/test/unit/ROOM/test_NAME
	@$(RUN) $(UNIT)

check-cli: all $(FAULTS)  ## the scenario tests of the commands alone
	@$(RUN) test/cli/*.sh

ONE_NEEDS := $(filter-out lint %.sh,$(TEST)) $(if $(filter %.sh,$(TEST)),all $(FAULTS) $(if $(KERNELS),$(B)/test/emulate/dawn))
one: $(ONE_NEEDS)  ## run one test: make one TEST=test/cli/train.sh, TEST=build/test/unit/ROOM/test_NAME, TEST=lint
	@$(RUN) $(TEST)

check-threads:  ## the tests of the server, the feed and the pool under ThreadSanitizer
	@$(MAKE) --no-print-directory SAN=thread check-board check-feed
check-feed: $(B)/test/unit/data/test_data_feed $(B)/test/unit/data/test_data_cache $(B)/test/unit/runtime/test_pool
	@$(RUN) $^
check-board: $(filter $(B)/test/unit/scoreboard/%,$(UNIT))
	@$(RUN) $^

check-roots:  ## both commands of the README in empty roots of Debian 12 and 13 (as root; SUITES: which)
	@test/roots.sh $(SUITES)

lint:  ## layering, licences, sizes and other house rules, and proof that each can fail
	@test/run.sh lint

tests: $(UNIT) $(FAULTS) emulated $(if $(KERNELS),$(B)/gpu/dawn $(if $(SAN),,$(ON_GPU)))
$(B)/test/unit/scoreboard/%: $(B)/test/unit/scoreboard/%.o $(B)/libboard.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(BOARD_LIBS) -lcmocka -o $@
LINK_DATA = $(CC) $(BASE_FLAGS) $^ $(LIBS) -lcmocka -o $@
$(B)/test/unit/data/%: $(B)/test/unit/data/%.o $(B)/libdata.a
	$(call say,LINK,$@)
	$(Q)$(LINK_DATA)
# The pool of threads is among what data/ uses, and check-threads compiles no more than it needs.
$(B)/test/unit/runtime/test_pool: $(B)/test/unit/runtime/test_pool.o $(B)/runtime/cpu/product/dnnl_prim.o $(B)/libdata.a
	$(call say,LINK,$@)
	$(Q)$(LINK_DATA)
SECOND := $(patsubst %.c,$(B)/%.o,$(wildcard test/second/*.c))  # the second task, which lives in the tests
$(B)/test/unit/tasks/test_second $(B)/test/unit/tasks/test_driven $(B)/test/unit/tasks/test_infer $(B)/test/unit/tasks/test_profile $(B)/test/emulated/test_cuda_second $(B)/test/on_gpu/test_cuda_second: $(SECOND)
$(B)/test/unit/runtime/test_dnn_plans: $(B)/test/unit/runtime/test_dnn_plans.o $(filter %.a,$(ON_CUDA)) $(B)/libdawn.a
	$(call say,LINK,$@)
	$(Q)$(call link_program,$(ON_CUDA)) -lcmocka -o $@
$(B)/test/unit/%: $(B)/test/unit/%.o $(B)/libdawn.a
	$(call say,LINK,$@)
	$(Q)$(call link_program) -lcmocka -o $@

# The libraries of an archive are stored next to its programs. RPATH instead of RUNPATH, so that it counts for what libraries need, too.
PACKED := -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib:$$ORIGIN/../lib'

# ---- the CUDA device without a GPU: kernels compiled for the host, an emulated runtime and libraries (test/emulate/)
EMULATOR := $(KERNELS:%.cu=$(B)/emulate/%.o) $(patsubst %,$(B)/%.o,$(basename $(wildcard test/emulate/*.c test/emulate/*.cc)))
EMULATED_LIBRARIES := $(patsubst test/emulate/lib/%.c,$(B)/test/emulate/lib/%,$(wildcard test/emulate/lib/*.c))
# A misaligned wide load must fail as on a GPU: it traps (with SAN it is reported).
# AddressSanitizer would keep the frames of functions on the heap, which every thread of a kernel would pay for.
FRAMES := $(if $(findstring address,$(SAN)),$(if $(findstring clang,$(CXX)),-fsanitize-address-use-after-return=never,\
    --param=asan-use-after-return=0))
EMULATE_FLAGS := $(OPTIMISE) $(or $(strip $(SANITISE) $(FRAMES)),-fsanitize=alignment -fsanitize-undefined-trap-on-error) \
    -fno-strict-aliasing -Wall -Wextra -Wno-unknown-pragmas $(WERROR) -I. $(CUDA_INCLUDE)
emulated: $(EMULATED) $(if $(KERNELS),$(B)/test/emulate/dawn)
$(B)/emulate/%.o: %.cu $(B)/emulate.list
	$(call say,CXX,$< (for the emulator))
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(EMULATE_FLAGS) -x c++ -include test/emulate/emulate.h -MMD -MP -c $< -o $@
$(B)/test/emulate/%.o: test/emulate/%.cc $(B)/emulate.list
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 $(EMULATE_FLAGS) -MMD -MP -c $< -o $@
$(B)/test/emulate/%.o $(B)/test/cuda/%.o $(B)/test/unit/runtime/test_dnn_plans.o: EXTRA = $(CUDA_INCLUDE)
$(B)/test/emulate/lib/%: test/emulate/lib/%.c $(wildcard test/emulate/lib/*.h) $(B)/flags.list
	$(call say,CC,$< (shared))
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $(CUDA_INCLUDE) -fPIC -shared $< -o $@
# The emulator precedes the library, so that its kernels and its runtime are linked. The emulated libraries call back into
# the program (emulate_library.h), hence -rdynamic. RPATH instead of RUNPATH, because RUNPATH is ignored when AddressSanitizer
# is between dlopen and its caller: the real libraries would then be found.
LINK_EMULATED = $(CC) $(BASE_FLAGS) -rdynamic $(filter %.o,$^) $(WITH_CUDA) $(B)/libdawn.a \
    -Wl,-rpath,'$(if $(filter /%,$(B)),,$(CURDIR)/)$(B)/test/emulate/lib' $(PACKED) $(LIBS) -lstdc++ -ldl
$(B)/test/emulated/test_emulator $(B)/test/emulated/test_emulator_runtime: $(B)/test/emulate/faulty/k_faulty.o
$(B)/test/emulated/%: $(B)/test/cuda/%.o $(EMULATOR) $(B)/libcuda.a $(B)/libdawn.a | $(EMULATED_LIBRARIES)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK_EMULATED) -lcmocka -o $@
$(B)/test/emulate/dawn: $(B)/dawn.o $(EMULATOR) $(B)/libcuda.a $(B)/libdawn.a | $(EMULATED_LIBRARIES)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK_EMULATED) -o $@
$(B)/test/on_gpu/%: $(B)/test/cuda/%.o $(B)/libcuda.a build/libkernels.a $(B)/libdawn.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link_program,$(ON_CUDA)) $(PACKED) -lcmocka -o $@
$(B)/gpu/dawn: $(B)/dawn.o $(B)/libcuda.a build/libkernels.a $(B)/libdawn.a
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(call link_program,$(ON_CUDA)) $(PACKED) -o $@

check-gpu: all $(ON_GPU)  ## the CUDA device on a real GPU: every operator against ref, and training
	@test/gpu.sh $(ON_GPU)

gpu-bundle: $(B)/gpu/dawn $(ON_GPU)  ## build/gpu.tar.xz: what a GPU machine without network needs; run.sh in it is the first contact
	@$(if $(KERNELS),,$(error gpu-bundle: this build has no device cuda))
	@test/gpu_bundle.sh $(B)/gpu.tar.xz $(B)/gpu/dawn $(ON_GPU)

fuzz:  ## run each fuzzer for FUZZ_SECONDS (20) with clang, after installing it where apt can
	@test/deps.sh fuzz
	@$(MAKE) --no-print-directory CC=clang SAN=address,undefined FUZZING=1 B=build-fuzz fuzz-run

fuzz-run: $(FUZZERS)
	@test/fuzz/run.sh $(FUZZ_SECONDS) $(B)/corpus $^
$(FUZZERS:%=%.o): EXTRA = -Wno-missing-prototypes  # libFuzzer calls functions without a declaration
$(B)/test/fuzz/fuzz_board_%: $(B)/test/fuzz/fuzz_board_%.o $(B)/libboard.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) -fsanitize=fuzzer $^ $(BOARD_LIBS) -o $@
$(B)/test/fuzz/%: $(B)/test/fuzz/%.o $(B)/libdawn.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) -fsanitize=fuzzer $^ $(LIBS) -o $@

bench-convs: $(B)/test/bench/bench_convs  ## build the yardstick: the convolutions of a network alone
$(B)/test/bench/bench_convs: test/bench/bench_convs.c runtime/cpu/product/dnnl_api.h
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O2 -Wall $(WERROR) -I. $< -ldnnl -o $@
bench-images: $(B)/test/bench/bench_images  ## build the yardstick: decoding and resizing the JPEGs of a folder on one core
$(B)/test/bench/bench_images: test/bench/bench_images.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-encoder: $(B)/test/bench/bench_encoder  ## build the yardstick: a step of an encoder and its matrix products alone
$(B)/test/bench/bench_encoder: test/bench/bench_encoder.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-linear-xent: $(B)/test/bench/bench_linear_xent  ## build the yardstick: an output layer and its loss as one operator and as two
$(B)/test/bench/bench_linear_xent: test/bench/bench_linear_xent.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-games: $(B)/test/bench/bench_games  ## build the yardstick: self-play of connect4 or minigo-9, its network and its search
$(B)/test/bench/bench_games: test/bench/bench_games.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-connect4: $(B)/test/bench/connect4_positions  ## build the program that makes and solves the positions of connect4
$(B)/test/bench/connect4_positions: test/bench/connect4_positions.c $(B)/libdata.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-fid: $(B)/test/bench/fid_features  ## build the program whose features torch_fid.py compares
$(B)/test/bench/fid_features: test/bench/fid_features.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@
bench-maskrcnn: $(B)/test/bench/maskrcnn_outputs  ## build the program whose values torch_maskrcnn.py compares
$(B)/test/bench/maskrcnn_outputs: test/bench/maskrcnn_outputs.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@

bench-isa: $(PROGRAM)  ## measure the tasks' steps at every instruction set of this processor; PEER=PYTHON: with PyTorch
	@DAWN='$(CURDIR)/$(PROGRAM)' PEER='$(PEER)' test/bench/isa.sh
bench-loops: $(B)/test/bench/bench_loops  ## build the yardstick: the memory-bound passes of airbench alone
$(B)/test/bench/bench_loops: test/bench/bench_loops.c $(B)/libdawn.a
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(LIBS) -o $@

$(B)/test/fault/%: $(B)/test/fault/%.o $(B)/libboard.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(BOARD_LIBS) -o $@
fault: $(FAULTS)  ## what the scoreboard survives: a thousand kill -9, every system call failing once, slow senders
	$(B)/test/fault/kill9 1000
	$(B)/test/fault/syscalls
	$(B)/test/fault/drip
	$(B)/test/fault/forge
bench-board: $(B)/test/bench/board_load  ## measure the scoreboard: pages, filters, submissions a second
	@$<
$(B)/test/bench/board_load: $(B)/test/bench/board_load.o $(B)/libboard.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(BASE_FLAGS) $^ $(BOARD_LIBS) -o $@

INSTALL := DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' .package/install.sh
install: all  ## put programs, man pages, completion and the systemd unit under PREFIX (/usr/local)
	@$(INSTALL) install $(PROGRAM) $(BOARD)

uninstall:  ## remove what make install put under PREFIX
	@$(INSTALL) uninstall

# The package depends on Debian packages alone, so where a CUDA Toolkit is in use, it is built once more without.
DEB := $(if $(PROGRAM_HAS),build-deb/)
deb:  ## make a Debian package of this tree in build/
	@$(MAKE) --no-print-directory $(if $(DEB),CUDA=no B=build-deb IN=$(DEB)) all
	@.package/deb.sh $(DEB)dawn $(DEB)dawn-scoreboard build

release: all  ## make an archive in build/ that runs on any Linux of this architecture, without a compiler or packages
	@.package/release.sh $(PROGRAM) $(BOARD) build

deps:  ## install the libraries DAWN needs (Debian, Ubuntu), or name what is missing
	@test/deps.sh build

clean:  ## remove everything that was built
	rm -rf build build-san-* build-fuzz build-deb dawn dawn-scoreboard

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'
	@echo 'Variables: CC, V=1 (show commands), SAN=address,undefined, DESTDIR, PREFIX, FUZZ_SECONDS, WERROR= (allow warnings), CUDA=no, MPI=no'

# Kernels lie in build/ for every $(B).
-include $(sort $(shell find $(B) -name '*.d' 2>/dev/null) $(KERNEL_OBJECTS:.o=.d))

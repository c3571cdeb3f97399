# SPDX-License-Identifier: Apache-2.0
# make uses all processors, unless -j was given on the command line or in MAKEFLAGS; a make below shares the jobs of the one above.
set -eu
unset MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
printf '#!/bin/sh\necho 7\n' >nproc
chmod +x nproc
export PATH=$PWD:$PATH

cat >jobs.mk <<'E2'
include Makefile
jobs:
	@echo "$(filter -j%,$(MAKEFLAGS))"; $(MAKE) -f $(firstword $(MAKEFILE_LIST)) below
below:
	@echo "$(filter -j%,$(MAKEFLAGS))"
E2
jobs() { # what recipes see, and those of a make below: ARGUMENTS
    make -s --no-print-directory -C "$ROOT" -f "$PWD/jobs.mk" B="$PWD/b" CUDA=no "$@" jobs 2>&1
}
same() { # JOBS ARGUMENTS
    local want="$1 $1 "
    shift
    [ "$(jobs "$@" | tr '\n' ' ')" = "$want" ] || { echo "not $want:"; jobs "$@"; exit 1; }
}
same -j7
same -j1 -j1
same -j3 -j3
same -j2 --jobs=2
MAKEFLAGS=-j1 same -j1
MAKEFLAGS='-k -j2' same -j2

# Goals that start a make, or remove files, do not run concurrently with others.
[ "$(jobs -n clean | grep -c -- -j7)" = 0 ]
jobs -n all | grep -q -- -j7

# The target of the compiler, not the machine that compiles, decides for which instruction sets there are vector loops.
printf '#!/bin/sh\n[ "$1" != -dumpmachine ] || echo "$TARGET"\n' >compiler
chmod +x compiler
printf 'include Makefile\nisas:\n\t@echo $(ISAS) $(filter -DISA%%,$(BASE_FLAGS))\n' >isas.mk
isas() { # TARGET
    TARGET=$1 make -s --no-print-directory -C "$ROOT" -f "$PWD/isas.mk" B="$PWD/b" CUDA=no CC=compiler isas 2>&1
}
[ "$(isas x86_64-linux-gnu)" = 'base avx2 avx512' ]
[ "$(isas aarch64-linux-gnu)" = 'base -DISA_ONLY_BASE' ]

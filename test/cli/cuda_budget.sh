# SPDX-License-Identifier: Apache-2.0
# ptxas' report on every kernel: no spills, no stack, at most 48 KiB of shared memory, and registers within a budget. The
# default budget is 64, with which four blocks of 256 threads fit on a multiprocessor, enough to hide the latency of memory. The
# other budgets give their reason. Budgets are tight for the ptxas they were written for; another release may use fewer
# registers, but not more.
set -eu

budgets='matmul_half 128 32 x 32 sums per warp, the prefetched values and biases of columns; four blocks of 128 threads fit
attend_queries 80 addresses of three tensors with pitches of their own; three blocks of 256 threads fit
half_attend 208 the queries of a warp, 32 scores a lane and sums of 64 channels; two blocks of 128 threads fit
half_queries 216 rows of two factors, scores and their gradients, sums of 64 channels; two blocks of 128 threads fit
half_keys 248 as half_queries, with the sums of two gradients and the bounds of what is seen; two blocks still fit
norm_back_sums 128 coefficients, sums and two rows of eight channels; two blocks of 256 threads fit
norm_gate_sums 112 as norm_back_sums, with y instead of a second row
norm_back 128 as norm_back_sums, with the coefficients of dx instead of sums
norm_back_unpool 128 as norm_back
gather_grad_pieces 80 four rows of eight columns, read ahead, and their sum; three blocks of 256 threads fit
reorder 104 16 rows of 16 bytes; two blocks of 256 threads fit
sample_boxes 72 two selections in one body; one block takes a picture, so registers do not limit how many run
conv_wgrad 80 16 sums per thread, and four taps for channels that do not come by fours; bound by arithmetic
'

check() { # SOURCES FOLDER RELEASE: one line per breach. Reports of removed kernels are ignored.
    local source said=()
    for source in "$1"/k_*.cu; do
        [ -e "$source" ] || continue
        local file=$2/$(basename "$source" .cu).ptxas
        if [ -e "$file" ]; then said+=("$file"); else echo "$(basename "$source"): there is no report of ptxas"; fi
    done
    [ ${#said[@]} -gt 0 ] || { echo "all: no kernel was found"; return; }
    awk -v budgets="$budgets" -v tight="$([ "$3" = 13.0 ] && echo 1)" '
    BEGIN {
        lines = split(budgets, line, "\n")
        for (i = 1; i <= lines; i++) if (split(line[i], word, " ") > 1) budget[word[1]] = word[2]
    }
    function breach(what) { print name ": " what }
    /Compiling entry function/ {
        split($0, part, "\x27")
        mangled = part[2]
        name = mangled
        sub(/^_ZL?/, "", name)
        length_of = name + 0
        sub(/^[0-9]+/, "", name)
        name = substr(name, 1, length_of)
        kernels++
    }
    /bytes stack frame/ {
        if ($1 > 0) breach($1 " bytes on the stack")
        if ($5 > 0 || $9 > 0) breach("spills " $5 " bytes and reads " $9)
    }
    / Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        used = substr($0, RSTART + 5, RLENGTH - 5) + 0
        most = name in budget ? budget[name] : 64
        if (used > most) breach(used " registers, budget " most)
        if (name in budget && used > highest[name]) highest[name] = used
        if (match($0, /[0-9]+ bytes smem/) && substr($0, RSTART, RLENGTH) + 0 > 49152) breach("more than 48 KiB of shared memory")
    }
    END {
        for (b in budget) {
            name = b
            if (!(b in highest)) breach("a budget without a kernel")
            else if (tight && highest[b] + 16 < budget[b]) breach("its budget of " budget[b] " is loose: it takes " highest[b])
        }
        name = "all"
        if (!kernels) breach("no kernel was found")
    }' "${said[@]}"
}

[ -n "${EMULATED:-}" ] || { echo 'this dawn was built without CUDA'; exit 77; }

# The check can fail: a spill, a stack frame, too many registers, too much shared memory, a budget without a kernel, a loose
# budget, a kernel without a report.
mkdir sources made
: >sources/k_a.cu
cat >made/k_a.ptxas <<'E2'
ptxas info    : Compiling entry function '_Z5sillyI6__halfEv1k' for 'sm_90'
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 65 registers, used 1 barriers, 50000 bytes smem
ptxas info    : Compiling entry function '_Z10conv_wgradI6__halfEv1k' for 'sm_90'
ptxas info    : Used 20 registers, used 1 barriers
E2
expect() { # TEXT: a line of said starts with it
    grep -q "^$1" said || { echo "not noticed: $1"; cat said; exit 1; }
}
check sources made 13.0 >said
for breach in 'silly: 8 bytes on the stack' 'silly: spills 4 bytes and reads 12' 'silly: 65 registers, budget 64' \
    'silly: more than 48 KiB' 'matmul_half: a budget without a kernel' 'conv_wgrad: its budget of 80 is loose'; do
    expect "$breach"
done
check sources made 13.1 >said
expect 'silly: 65 registers'
[ "$(grep -c loose said)" = 0 ]
sed 's/silly/stale/' made/k_a.ptxas >made/k_gone.ptxas
: >sources/k_new.cu
check sources made 13.0 >said
expect 'k_new.cu: there is no report of ptxas'
[ "$(grep -c stale said)" = 0 ]
mkdir none
check none made 13.0 >said
expect 'all: no kernel was found'

release=$("${NVCC:-nvcc}" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
check "$ROOT/runtime/cuda/kernels" "$ROOT/build/runtime/cuda/kernels" "$release" >said
if [ -s said ]; then sort -u said; exit 1; fi

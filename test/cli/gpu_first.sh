# SPDX-License-Identifier: Apache-2.0
# The archive of "make gpu-bundle" and test/gpu_first.sh without a GPU: a size that is refused; stages that pass, fail, hang,
# ignore TERM and print too much; no time; a second call that continues; a GPU that is lost. The programs only pretend, but say
# what the real one says, so that the summary is not empty on a GPU. Steps are planned by the real one with the very options that
# it will get on the GPU, but for a narrow network on the device null.
set -eu
mkdir packed bin said

# What the stages' patterns have to find.
tiny='--set widths=8,8,8 --set batch=50 --set epochs=0.02 --set resolution=16 --set views=1'
"$DAWN" train cifar10 --data synthetic --device cpu --threads 1 --target 0.01 $tiny --save w.safetensors >said/train
"$DAWN" infer cifar10 --latency --weights w.safetensors --data synthetic --device cpu --threads 1 --precision f32 --views 1 \
    --items 2 --warmup 0 >said/infer
{
    printf '#!/bin/bash\nsaid=%q real=%q\n' "$PWD/said" "$DAWN"
    cat <<'END'
planned() { # WORDS...: once for the same words
    local said_so=$said/$(tr -c 'a-z0-9\n' - <<<"$*") narrow='--set widths=8,8,8'
    case "$*" in
    *imagenet*) narrow='--set widths=8,8,8,8' ;;
    *squad*) narrow='--set layers=1 --set width=24 --set feed_forward=24' ;;
    esac
    [ -e "$said_so" ] || "$real" "${@/#cuda/null}" $narrow --threads 1 --no-measure --seconds 0.01 >"$said_so.new" || exit
    [ -e "$said_so" ] || mv "$said_so.new" "$said_so"
    cat "$said_so"
}
case "$*" in
doctor*) printf '  ok       cuda           a pretended GPU; CUDA 13.0, cuDNN\n      9.21 with engines\n      of 9.19, driver 580.95.05\n  ok  cpu\n' ;;
'train '*'--db '*) echo '{"weights_digest": "ab"}' >"$(sed 's/.*--db \([^ ]*\).*/\1/' <<<"$*")"; cat "$said/train" ;;
'results export last --db '*) cat "${!#}" ;;
*'side 28'*) exit 7 ;;
'bench ops'*) echo 'conv 3x3' ;;
infer*) cat "$said/infer" ;;
*) planned "$@" ;;
esac
END
} >packed/dawn
tested() { printf '#!/bin/bash\n%s\n' "$2" >"$place/$1"; chmod +x "$place/$1"; } # PROGRAM COMMANDS
place=packed
tested test_cuda_device 'echo "[  PASSED  ] 3 test(s)."'
tested test_cuda_ops 'exit 4'
tested test_cuda_conv 'exit 3'
tested test_cuda_zz 'head -c 3000000 /dev/zero | tr "\0" x; echo; echo "[  PASSED  ] 1 test(s)."'
for program in nvidia-smi ncu nsys nvcc python3; do printf '#!/bin/sh\necho "12 -> H100"\n' >bin/$program; done
printf '#!/bin/sh\necho "Device not supported"\n' >bin/compute-sanitizer
chmod +x packed/dawn bin/*
bundle() { STRIP=true PRESET=0 "$ROOT/test/gpu_bundle.sh" gpu.tar.xz packed/dawn packed/test_*; }
rc=0
MOST=0 bundle 2>said/bundle || rc=$?
[ "$rc" = 1 ]
grep -q 'gpu.tar.xz is not smaller than 0 MiB' said/bundle
bundle
tar xJf gpu.tar.xz
mkdir python # as docs/testing.md says for machines without xz
(cd python && cp ../gpu.tar.xz . && python3 -c "$(sed -n 's/^(without xz: `python3 -c "\(.*\)"`.*/\1/p' "$ROOT/docs/testing.md")" 2>&1)
diff -r gpu python/gpu
place=gpu/on_gpu
PATH=$PWD/bin:$PATH

rc=0
BUDGET=400 gpu/run.sh out >said/run || rc=$?
cat said/run
[ "$rc" = 1 ] # stages failed, and stopped none of the later ones
summary=out/summary
line() { grep -Eq "^$1" "$summary" || { echo "no line in $summary: $1"; exit 1; }; }
line 'ok +machine and libraries +[0-9]+ s .*GPU: 12 -> H100$'
line 'ok +first start, cold +[0-9]+ s  ok cuda .*versions: CUDA 13.0, cuDNN 9.21 with engines of 9.19, driver 580.95.05$'
line 'ok +test_cuda_device +[0-9]+ s  \[ PASSED \] 3'
line 'FAIL test_cuda_ops +[0-9]+ s  exit status 4'
line 'FAIL test_cuda_conv +[0-9]+ s  exit status 3'
line 'ok +test_cuda_zz '
line 'ok +captured equals eager +[0-9]+ s .*"weights_digest": "ab"'
line 'ok +training 1 +[0-9]+ s  done: .*\|classic clock .* warm '
line 'ok +steps at 32 +[0-9]+ s  images/s [0-9.]+ .*\|step [0-9.]+ [mnu]?s'
line 'ok +steps at 24, own convolutions +[0-9]+ s  images/s '
line 'ok +steps of ResNet-50 +[0-9]+ s  images/s '
line 'ok +steps of BERT-base +[0-9]+ s  questions/s '
line 'ok +nodes of a step +[0-9]+ s  step .*\|device busy '
line 'FAIL steps at 28 +[0-9]+ s  exit status 7'
line 'ok +latency at batch 1 +[0-9]+ s  network alone [0-9. ]+\|with preprocessing [0-9. ]+$'
line 'ok +training 5 '
line '-- +compute-sanitizer +[0-9]+ s  skipped: memcheck \(device not supported\) racecheck \(device not supported\)$'
line '[0-9]+ of [0-9]+ stages passed, [0-9]+ failed, 1 not shown'
! "$ROOT/test/gpu_rehearse.sh" --judge out/summary 2>judged || exit 1 # a stage that is not shown is no reason, those that failed are
diff <(grep '^FAIL' out/summary) <(sed 's/^did not pass: //' judged)
! grep -q 'no longer answers' out/summary || exit 1
[ "$(ls out | tr '\n' ' ')" = 'logs.tar.gz summary ' ] # few files, so that all of them come back from a machine that limits them
tar xzOf out/logs.tar.gz --wildcards 'logs/*-test_cuda_zz.log' >log # both ends of a log that was too long
[ "$(wc -c <log)" -lt 500000 ]
tail -n 1 log | grep -q PASSED

# A second call runs the stages that did not pass. One that only KILL ends is ended after its time, and stops none of the later ones.
tested test_cuda_ops 'trap "" TERM; for i in {1..99}; do sleep 1; done'
tested test_cuda_device 'exit 9'
rc=0
LIMIT=5 gpu/run.sh hung out/summary >said/run || rc=$?
[ "$rc" = 1 ]
summary=hung/summary
line 'done test_cuda_device .*PASSED \] 3'
line 'FAIL test_cuda_ops +[0-9]+ s  stopped after 5 s'
line 'FAIL test_cuda_conv +[0-9]+ s  exit status 3'
line 'FAIL steps at 28, own convolutions +[0-9]+ s  exit status 7'
line 'done training 5 '
line '-- +compute-sanitizer +[0-9]+ s  skipped: '
! grep -q 'no longer answers' hung/summary || exit 1

# What does not fit into the time is not run.
tested test_cuda_ops 'sleep 7; echo "[  PASSED  ] 9 test(s)."'
rc=0
BUDGET=14 gpu/run.sh again out/summary >said/run || rc=$?
[ "$rc" = 0 ]
summary=again/summary
line 'ok +test_cuda_ops .*PASSED \] 9'
line '-- +test_cuda_conv +0 s  no time was left'
line 'done training 5 '

# A GPU that is lost is noticed after two stages that hang; the others do not wait for it.
sed -i 's/^doctor\*).*/doctor*) echo "  BROKEN   cuda  it is gone"; echo "1 check failed"; exit 1 ;;/' gpu/dawn
tested test_cuda_ops 'sleep 99'
tested test_cuda_conv 'sleep 99'
rc=0
LIMIT=5 gpu/run.sh gone >said/run || rc=$?
[ "$rc" = 1 ]
summary=gone/summary
line 'FAIL the GPU no longer answers'
line 'FAIL first start, cold +[0-9]+ s  exit status 1: BROKEN cuda it is gone$'
line '-- +test_cuda_zz .*the GPU no longer answers'
rc=0
gpu/run.sh out nothing >said/run 2>&1 || rc=$?
[ "$rc" = 2 ]

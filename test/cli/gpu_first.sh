# SPDX-License-Identifier: Apache-2.0
# test/gpu_first.sh without a GPU: stages that pass, fail, hang and print nothing, with programs that only pretend.
set -eu
mkdir -p gpu/on_gpu gpu/lib gpu/test/bench bin
cp "$ROOT/test/gpu_first.sh" gpu/run.sh
cp "$ROOT/test/gpu.sh" gpu/test/
echo 'dawn 0' >gpu/version
cat >gpu/dawn <<'END'
#!/bin/bash
case "$*" in
doctor*) echo '  ok       cuda           a pretended GPU' ;;
'train '*'--db '*) echo '{"weights_digest": "ab"}' >"$(sed 's/.*--db \([^ ]*\).*/\1/' <<<"$*")"; echo 'done: 95%' ;;
'results export last --db '*) cat "${!#}" ;;
*'side 28'*) exit 7 ;;
*) echo '1.5 ms a step' ;;
esac
END
printf '#!/bin/bash\necho "[  PASSED  ] 3 test(s)."\n' >gpu/on_gpu/test_cuda_device
printf '#!/bin/bash\nsleep 60\n' >gpu/on_gpu/test_cuda_ops
printf '#!/bin/bash\necho last; echo "[  PASSED  ] 1 test(s)."\n' >gpu/on_gpu/test_cuda_zz
chmod +x gpu/dawn gpu/on_gpu/*
for program in nvidia-smi ncu nsys compute-sanitizer nvcc python3; do printf '#!/bin/sh\necho NVIDIA-SMI\n' >bin/$program; done
chmod +x bin/*

rc=0
PATH=$PWD/bin:$PATH BUDGET=20 gpu/run.sh out >said || rc=$?
cat said
[ "$rc" = 1 ] # stages failed
grep -Eq '^ok +first start, cold +[0-9]+ s +ok +cuda' out/summary
grep -Eq '^ok +test_cuda_device +[0-9]+ s  \[  PASSED  \] 3' out/summary
grep -Eq '^FAIL test_cuda_ops +[0-9]+ s  exit status 124' out/summary # it took what was left and was stopped
grep -Eq '^-- +captured equals eager +0 s  no time was left' out/summary
tail -n 1 out/summary | grep -Eq '^[0-9]+ of [0-9]+ stages passed, [0-9]+ failed, [0-9]+ not shown'
tar tzf out/logs.tar.gz | grep -q 'logs/05-doctor.log'

# With time enough, a stage that fails stops none of the later ones.
printf '#!/bin/bash\nexit 3\n' >gpu/on_gpu/test_cuda_ops
PATH=$PWD/bin:$PATH BUDGET=200 gpu/run.sh again >said || true
grep -Eq '^FAIL test_cuda_ops +[0-9]+ s  exit status 3' again/summary
[ "$(grep -c 'test_cuda_' again/summary)" -ge 3 ]
grep -Eq '^ok +test_cuda_zz ' again/summary
grep -Eq '^ok +captured equals eager +[0-9]+ s  "weights_digest": "ab"' again/summary
grep -Eq '^ok +steps at 24 +[0-9]+ s  1.5 ms a step' again/summary
grep -Eq '^FAIL steps at 28 +[0-9]+ s  exit status 7' again/summary
grep -Eq '^ok +training 5 +[0-9]+ s  done: 95%' again/summary

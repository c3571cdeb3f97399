# SPDX-License-Identifier: Apache-2.0
# test/bench/isa.sh: its table, the limits of both sides and of the time, with programs that pretend.
set -eu
. "$ROOT/test/status.sh"

cat >dawn <<'END'
#!/bin/sh
[ "$DAWN_ISA $ONEDNN_MAX_CPU_ISA" = "avx2 AVX2" ] || exit 1
echo '{"batch": 100, "step_s": [3, 2, 1], "precision": "f32"}'
END
# The closing lines of the three programs.
cat >peer <<'END'
#!/bin/sh
[ "$ATEN_CPU_CAPABILITY $MKL_ENABLE_INSTRUCTIONS" = "avx2 AVX2" ] || exit 1
case $1 in
*/torch_convnets.py) echo "PyTorch 2.15.0, $2 $3 $4 $5, $6 threads: 4.000 s, processor 7.900 s" ;;
*/torch_encoder.py) echo "PyTorch 2.15.0, $2 $3 $4 $5 $6 layers, $7 threads, dropout 0.1: 2.000 s" ;;
*/torch_fusion.py) echo "PyTorch 2.15.0, $2 $3 $4 $5, 10,659,251 parameters, $6 threads: 1.000 s" ;;
esac
END
chmod +x dawn peer
for file in convnets encoder fusion; do [ -f "$ROOT/test/bench/torch_$file.py" ]; done

export DAWN=$PWD/dawn THREADS=2
PEER=$PWD/peer expect 0 '^| level | step | precision | samples/s | PyTorch | ratio |$' \
    "$ROOT/test/bench/isa.sh" avx2 cifar10-24,minilm,fastfusionnet
tail -n 3 out >rows
cat >wanted <<'END'
| avx2 | cifar10-24 | f32 | 50 | 384 | 0.13 x |
| avx2 | minilm | f32 | 50 | 16 | 3.12 x |
| avx2 | fastfusionnet | f32 | 50 | 32 | 1.56 x |
END
diff wanted rows
expect 0 '^| avx2 | resnet18 | f32 | 50 |$' "$ROOT/test/bench/isa.sh" avx2 resnet18
expect 0 '^| base | resnet18 | - | - |$' "$ROOT/test/bench/isa.sh" base resnet18
expect 0 'no time was left for avx2 minilm' env MINUTES=0 "$ROOT/test/bench/isa.sh" avx2 minilm
lacks out minilm
expect 2 'no level avx3' "$ROOT/test/bench/isa.sh" avx3
expect 2 'no step mini' "$ROOT/test/bench/isa.sh" avx2 mini

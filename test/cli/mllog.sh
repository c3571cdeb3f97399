#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# MLPerf's compliance checker (mlcommons/logging, "mlperf-logging" on PyPI) accepts the logs of pictures, questions and translations,
# of runs that met their target and of one that missed it. The rules are 4.0.0, the last ones that have an image classification
# (resnet), and 0.7.0 for translations. Without the checker this scenario is skipped.
set -eu
python=${MLPERF_PYTHON:-python3}
"$python" -c 'import mlperf_logging' 2>/dev/null || { echo "mlperf_logging is not installed"; exit 77; }

accepted() { # RUN STATUS [RULES]: the checker accepts the log of the run, which ends so
    "$DAWN" results export "$1" --format mllog --to "run-$1.log"
    grep -q "\"run_stop\".*\"status\":\"$2\"" "run-$1.log" || { echo "run $1 does not end as $2"; tail -n 1 "run-$1.log"; exit 1; }
    "$python" -m mlperf_logging.compliance_checker --usage training --ruleset "${3:-4.0.0}" "run-$1.log" >out 2>&1 || {
        cat out
        exit 1
    }
    grep -q SUCCESS out || { cat out; exit 1; }
}

small="--threads 1 --no-stop --set epochs=0.2"
cifar="train cifar10 --data synthetic --set widths=8,8,16 --batch 256 --set views=1 $small"
"$DAWN" $cifar --target 0.001 >out
"$DAWN" $cifar --target 0.999 >out 2>&1 || [ $? = 3 ]
narrow="--data pictures --set widths=4,4,8,8 --set resolution=32 --set evaluation.side=32 $small --set epochs=1 --set warmup_epochs=.2"
"$DAWN" train imagenet $narrow --target 0.001 >out
"$DAWN" train imagenette $narrow --target 0.001 >out
"$DAWN" train squad --data stories $small --set warmup_epochs=.1 --target 0.0001 >out
"$DAWN" train squad-split --data stories $small --set warmup_epochs=.1 --target 0.0001 >out
"$DAWN" train multi30k --data phrases --threads 1 --no-stop --target 30 >out # transformer: last in the rules 0.7.0
for run in 1 3 4 5 6; do accepted $run success; done
accepted 2 aborted
accepted 7 success 0.7.0

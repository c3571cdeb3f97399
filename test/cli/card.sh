#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The three commands that a beginner is shown, typed as they are printed, and the page that they lead to: train, infer, submit,
# look. $DAWN_DATA names the images that the program draws itself, so that nothing is fetched.
set -eu
. "$ROOT/test/board.sh"
taskset -cp 0 $$ >/dev/null 2>&1 || true # one thread: two that wait for each other are slow on a busy machine
mkdir bin
ln -s "$DAWN" bin/dawn
export PATH=$PWD/bin:$PATH DAWN_DATA=synthetic

# ---- the first command: before it begins, it names the boards that can list the run
dawn train cifar10 --target 0.94 >train.txt
grep -q '^  eligible  *no: SYNTHETIC data is listed on the board "demo" alone$' train.txt
grep -q '^done: ' train.txt

# ---- the second: the newest run that has weights, with the views that the training evaluated with
dawn train cifar10 --target 0.001 --set epochs=0.1 --set widths=8,8,8 --save "" --quiet # newer, and without weights
dawn infer --latency >infer.txt
grep -q '^run 1 of results.db, the newest with weights: cifar10, ' infer.txt
grep -q ', 2 views per item$' infer.txt
grep -q '^    with preprocessing ' infer.txt
dawn infer --json --precision f32 >infer.json # the answers of the evaluation, but for borderline ones in another type
dawn results export 1 >run.json
holds infer.json 'o["views"] == load("run.json")["runs"][0]["views"] == 2' \
    'abs(o["correct"] - load("run.json")["runs"][0]["last_score"]) <= 20'
quick="--items 20 --warmup 2 --threads 1 --precision f32"
dawn infer --latency --views 1 $quick >one.txt
grep -q ', 1 view per item$' one.txt
dawn infer --latency --views 3 $quick 2>err.txt && exit 1
grep -q '"evaluation.views" must be 1, 2 or 6' err.txt
dawn infer --weights run-1.safetensors $quick >weights.txt # a file of ours names its task
lacks weights.txt 'newest'
slow="--weights run-1.safetensors --device ref --precision f32 --views 1 --warmup 1"
dawn infer $slow --items 200 >/dev/null 2>err.txt # in a pipe a line every tenth, after the first second
grep -Eq '^measuring: [1-9]0%, ' err.txt
dawn infer $slow --items 10 --quiet >/dev/null 2>err.txt
[ ! -s err.txt ]
dawn infer squad 2>err.txt && exit 1
grep -q 'no run of task squad in results.db has weights' err.txt
dawn results show 1 >shown.txt
grep -q ', 2 views: ' shown.txt && grep -q ', 1 view: ' shown.txt

# ---- the third: the board is known, the question is asked at a terminal, each run is named
dawn keys new me >/dev/null
start_board board --origin our-board
export DAWN_SERVER=$url DAWN_HANDLE=ada
python3 - <<'PYTHON'
import os, pty, sys
def submit(answer):  # at a terminal; its exit status and what it said
    said, answered = b"", False
    child, terminal = pty.fork()
    if child == 0:
        os.execvp("dawn", ["dawn", "submit", "results.db"])
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        said += piece
        if b"[y/N]" in said and not answered:
            os.write(terminal, answer)
            answered = True
    sys.stdout.write(said.decode())
    assert answered, said
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said
status, said = submit(b"9\n")
assert status == 2 and b'"9" is no run or group of the list' in said, status
status, said = submit(b"1\n")  # of the two, this one alone
assert status == 0 and b"run 1: accepted as #1" in said and b"run 2: accepted" not in said, status
status, said = submit(b"y\n")
assert status == 0 and b"run 2: accepted as #2" in said, status
PYTHON

# ---- and the page, with all entries: a program of changed sources is flagged
python3 - <<'PYTHON'
import os, urllib.request
base = os.environ["DAWN_SERVER"]
for path, words in (("/", "CIFAR10"), ("/boards/demo/training-time?trust=imported", "ada"), ("/runs/1", "synthetic")):
    page = urllib.request.urlopen(base + path).read().decode()
    assert words in page, (path, words)
PYTHON

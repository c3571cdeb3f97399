#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every option of every command with a wrong value, and every command with an unknown option: one line on standard error without
# control characters, nothing on standard output, status 2. The lists come from the programs, so a new option is tried at once.
# Then records that cannot be opened, and an output that cannot be written.
set -eu
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
. "$ROOT/test/status.sh"

python3 - <<'PYTHON'
import os, subprocess
tried = 0


def run(*words):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def listed(*words):
    lines = run(words[0], "help", "--complete", *words[1:])[1].splitlines()
    return [line.split("\t")[0] for line in lines if not line.startswith(":")]


def refuse(*words):  # the last word is an unknown option, so nothing ever runs
    global tried
    tried += 1
    status, said, why = run(*words, "--no-such-option")
    assert status == 2 and not said and why.count("\n") == 1 and "\033" not in why, (words, status, said, why)
    return why


for program in os.environ["DAWN"], os.environ["BOARD"]:
    for command in listed(program, ""):
        subs = {"data": listed(program, "data", ""), "keys": ["rotate", "revoke"]}.get(command, [])
        for path in [[command]] + [[command, sub] for sub in subs if command != "help"]:
            if path == ["help"]:
                continue
            assert "there is no option --no-such-option" in refuse(program, *path)
            for option in listed(program, *path, "--"):
                if option != "--help":
                    refuse(program, *path, option + "=-1\033[1m")
assert tried > 250, tried
PYTHON

expect 2 'there is no command "tran"; did you mean "train"?' "$DAWN" tran
expect 2 'there is no option --quiet before a command' "$DAWN" --quiet train

# ---- values that stand for nothing, and options that an action would ignore
expect 2 'db must not be empty (FILE)' "$DAWN" results --db ''
expect 2 'data must not be empty (NAME|DIR)' "$DAWN" train cifar10 --data ''
expect 2 'to must not be empty (FILE)' "$DAWN" data show synthetic --to ''
expect 2 'output must not be empty (FILE)' "$DAWN" report -o ''
expect 2 'threads must be between 0 and 1024; got -1' "$DAWN" plan cifar10 --threads -1
expect 2 'target must be a number; got "high"' "$DAWN" record --target high -- true
expect 2 'are options of results export' "$DAWN" results list --to runs.csv
expect 2 'are options of results export' "$DAWN" results show --author Ann
expect 2 'mirror must begin with https:// or http://; got "board"' "$DAWN" data fetch cifar10 --mirror board

# ---- a record that is a folder, empty, something else, or cut off
quick="cifar10 --data synthetic --set widths=8,8,8 --batch 100 --set epochs=0.02 --set views=1 --threads 1 --target 0.001"
"$DAWN" train $quick --db good.db >&- 2>err && exit 1 # a closed output: the training is recorded all the same
grep -q 'cannot write the output: Bad file descriptor' err
expect 0 '1 point; all that is submitted is bound' "$DAWN" results verify 1 --db good.db
expect 0 'top-1 accuracy of 5 test images' "$DAWN" infer cifar10 --items 5 --warmup 0 --run 1 --db good.db
mkdir dir.db
: >zero.db
echo text >text.db
head -c 3000 good.db >cut.db
while read -r file why; do
    for command in "results --db" "submit --dry-run" "train $quick --db" "record --db=$file -- true"; do
        case $file.$command in zero.db.train* | zero.db.record*) continue ;; esac # they begin a record
        case $command in record*) says 1 "$why" "$DAWN" $command ;; *) says 1 "$why" "$DAWN" $command "$file" ;; esac
    done
done <<'END'
dir.db dir.db is a folder
zero.db zero.db is empty: no run has been recorded in it
text.db text.db is not a database
cut.db cut.db is damaged
END

# ---- an output that cannot be written
for command in -h results "results export" "recipe cifar10" "report -o -"; do
    rc=0
    DAWN_RESULTS=good.db "$DAWN" $command >/dev/full 2>err || rc=$?
    [ "$rc" = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'cannot write the output' err || { echo "$command: $rc"; cat err; exit 1; }
done

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --json of the commands that list something, and of dawn record: the same figures as in the text, for programs.
set -eu
. "$ROOT/test/status.sh"

[ "$(status "$DAWN" models cifar10 --json)" = 0 ]
holds out '[(m["parameters"], m["flops"]) for m in o if m["name"] == "airbench"] == [(1971640, 211085908)] and {m["task"] for m in o} == {"cifar10"}'
[ "$(status "$DAWN" models --json)" = 0 ]
holds out '{"cifar10", "imagenet", "squad"} <= {m["task"] for m in o}'
[ "$(status "$DAWN" models resnet9 --json)" = 2 ]
[ "$(status "$DAWN" prices --json)" = 0 ]
holds out 'all(p["micro_usd_per_hour"] > 0 and p["instance"] and p["source"] for p in o)'
count=$(python3 -c 'import json; print(len(json.load(open("out"))))')
[ "$("$DAWN" prices --csv | wc -l)" = $((count + 1)) ]
[ "$(status "$DAWN" prices --json --csv)" = 2 ]
[ "$(status "$DAWN" prices no-such-machine --json)" = 1 ]
[ "$(status "$DAWN" data list --json)" = 0 ]
holds out '[(d["here"], d["synthetic"], d["classes"]) for d in o if d["name"] == "synthetic"] == [(True, True, 10)]'
holds out '[(d["here"], "data_batch_1.bin" in d["why"]) for d in o if d["name"] == "cifar10"] == [(False, True)]'
for file in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    mkdir -p $'folder\xff/cifar-10-batches-bin'
    truncate -s 30730000 $'folder\xff/cifar-10-batches-bin/'$file.bin
done
says 1 'cannot be written as JSON' "$DAWN" data list --json --data $'folder\xff' # a list never lacks a row without a word
[ "$(status "$DAWN" keys --json)" = 0 ]
holds out 'o == []'
[ "$(status "$DAWN" data verify synthetic --json)" = 0 ]
holds out 'o["good"] and o["train"]["samples"] > o["test"]["samples"] > 0 and len(o["test"]["content"]) == 64 and "error" not in o'
[ "$(status "$DAWN" data verify cifar10 --json --data nowhere)" = 1 ]
holds out 'o["good"] is False and "nowhere" in o["error"]'
[ "$(status "$DAWN" data show synthetic --json --test)" = 0 ]
holds out '(o["name"], o["split"], o["file"]) == ("synthetic", "test", "synthetic.png")' 'o["samples"] > 0 and "sample" not in o'
[ -s synthetic.png ]
"$DAWN" data show stories 3 >story.txt
[ "$(status "$DAWN" data show stories 3 --json)" = 0 ]
holds out 'o["text"] == open("story.txt").read() and (o["sample"], o["samples"]) == (3, 3000) and "file" not in o'
[ "$(status "$DAWN" data show stories 3001 --json)" = 2 ]
"$DAWN" keys new >/dev/null
[ "$(status "$DAWN" keys list --json)" = 0 ]
holds out '[(k["name"], k["default"], k["id"][:7]) for k in o] == [("dawn", True, "SHA256:")]'
[ "$(status "$DAWN" keys show --json)" = 2 ]
ssh-keygen -q -t ed25519 -N '' -f $'elsewhere\xff'
[ "$(DAWN_KEY=$'./elsewhere\xff' status "$DAWN" keys list --json)" = 1 ]
grep -q 'cannot be written as JSON' err

line='{\"dawn\":\"epoch\",\"epoch\":1,\"correct\":$((9400 + 10 * DAWN_SEED)),\"items\":10000}'
[ "$(status "$DAWN" record --json --runs 2 -- sh -c "echo \"$line\"")" = 0 ]
holds err '[o[0][k] for k in ("event", "run", "status", "epochs", "score")] == ["end", 1, "done", 1, .941]' \
    'o[1]["score"] == .942 and 0 < o[1]["reached_ns"] == o[1]["end_to_end_ns"]' 'len(o) == 3 and o[2]["event"] == "group"' \
    'round(o[2]["score_mean"], 6) == .9415 and o[2]["finished"] == 2 and o[2]["verdict"] == "too-few"'

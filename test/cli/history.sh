#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn-scoreboard import records: the rows of a published history are on boards as imported, and nowhere as checked; importing them
# again changes nothing; the check of the record derives them again. Then wrong files: one sentence with the line each.
set -eu

. "$ROOT/test/status.sh"

printf '# as published\ntask\tdate\tseconds\tscore\tauthor\thardware\tmodel\tlink\tnote\n' >race.tsv
{
    printf 'cifar10\t2024-01-02\t3.29\t0.9401\tann@example.org Ann\tA100\tnet\thttps://example.org/1\twarm\r\n'
    printf 'cifar10\t2024-01-02\t2.59\t0.94\tBob\t8 * A100\n\n'
    printf 'multi30k\t2024-02-29\t1.5\t41.02\t\t\n'
} >>race.tsv
[ "$(status "$BOARD" import records race.tsv --db a.db --dry-run)" = 0 ]
[ ! -e a.db ]
reads out 'CIFAR10/history/race-2024-01-02-2: 2.59 s, Bob'
[ "$(status "$BOARD" import records race.tsv --db a.db)" = 0 ]
reads out 'a.db: 3 .3 new'
"$BOARD" board cifar10 training-time --trust imported --db a.db --format tsv >rows.tsv
reads rows.tsv '2.59'
reads rows.tsv 'CIFAR10/history/race-2024-01-02'
lacks rows.tsv 'example[.]org[.]Ann'
"$BOARD" board cifar10 training-time --db a.db --format tsv >checked.tsv
lacks checked.tsv '2[.]59'
[ "$(status "$BOARD" import records race.tsv --db a.db)" = 0 ]
reads out 'a.db: 3 .0 new'
"$BOARD" board cifar10 training-time --trust imported --db a.db --format tsv | cmp - rows.tsv
"$BOARD" check --db a.db >check.txt
[ "$(status "$BOARD" export dawnbench new --db a.db)" = 0 ] # histories are no files of DAWNBench
[ -z "$(find new -name '*race*')" ]

wrong() { # SENTENCE ROW
    printf 'task\tdate\tseconds\tscore\tlink\n%b\n' "$2" >bad.tsv
    says 1 "$1" "$BOARD" import records bad.tsv --db b.db
    [ ! -e b.db ]
}
wrong 'bad, line 2: there is no task "cifar"' 'cifar\t2024-01-02\t1\t0.95'
wrong 'bad, line 2: "2024-02-30" is not a date' 'cifar10\t2024-02-30\t1\t0.95'
wrong 'bad, line 2: seconds must be above 0' 'cifar10\t2024-02-03\t0\t0.95'
wrong 'bad, line 2: score' 'cifar10\t2024-02-03\t1\tbest'
wrong 'the score 0.93 misses the target 0.94 of cifar10' 'cifar10\t2024-02-03\t1\t0.93'
wrong 'is no web address' 'cifar10\t2024-02-03\t1\t0.95\tjavascript:1'
wrong 'has 6 cells, and there are 5 columns' 'cifar10\t2024-02-03\t1\t0.95\t\t'
printf 'task\tdate\tseconds\n' >bad.tsv
says 1 'bad, line 1: has no column "score"' "$BOARD" import records bad.tsv --db b.db
printf 'task\ttask\n' >bad.tsv
says 1 'has the column "task" twice' "$BOARD" import records bad.tsv --db b.db
printf 'task\tcolour\n' >bad.tsv
says 1 '"colour" is no column' "$BOARD" import records bad.tsv --db b.db
printf 'task\tdate\tseconds\tscore\n' >bad.tsv
says 1 'bad has no row' "$BOARD" import records bad.tsv --db b.db
printf '\377' >bad.tsv
says 1 'is not text in UTF-8' "$BOARD" import records bad.tsv --db b.db
says 1 'nowhere' "$BOARD" import records nowhere.tsv --db b.db

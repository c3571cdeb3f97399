# SPDX-License-Identifier: Apache-2.0
# `dawn data fetch` as a person meets it, against a server on the loopback: 404, a page instead of the archive, a wrong
# digest, a disk without room. (Resuming is tested in test_data_fetch.c, with an archive small enough to be whole.)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../wait.sh"

. "$ROOT/test/status.sh"

mkfifo hold
python3 "$here/data_server.py" 170052171 log <hold >port 2>server_err &
server=$!
exec 9>hold # the server ends when this shell does
wait_line $server port '^[0-9]' || { cat server_err; exit 1; }
url=http://127.0.0.1:$(cat port)

[ "$(status "$DAWN" data fetch cifar10 --mirror "$url/missing" --to d)" = 1 ]
grep -q "^dawn data: $url/missing/cifar-10-binary.tar.gz answered 404 (not found)$" err
[ "$(wc -l <err)" = 1 ]

[ "$(status "$DAWN" data fetch cifar10 --mirror http://127.0.0.1:1/ --to d)" = 1 ] # no server there
[ "$(wc -l <err)" = 1 ]
lacks err 'bytes are kept'
grep -q -- '--mirror URL fetches from elsewhere, --from FILE' err
[ -z "$(ls d)" ]

says 1 'offers 9 bytes; the archive of CIFAR-10 has 170052171' "$DAWN" data fetch cifar10 --mirror "$url/page" --to d

# A limit on the size of files stands for a full disk: the write fails in the same place.
[ "$( (ulimit -f 1024; status "$DAWN" data fetch cifar10 --mirror "$url/whole" --to d) )" = 1 ]
grep -q 'cannot write d/cifar-10-binary.tar.gz.part after byte 1048576 of 170052171' err
[ "$(stat -c %s d/cifar-10-binary.tar.gz.part)" = 1048576 ]

mkdir folder
says 2 'folder is a folder, not the archive of CIFAR-10; .*--data' "$DAWN" data fetch cifar10 --from folder --to d
printf 'no archive' >x.tar.gz
says 1 'x.tar.gz has 10 bytes' "$DAWN" data fetch cifar10 --from x.tar.gz --to d
truncate -s 170052171 x.tar.gz # takes no room
says 1 'x.tar.gz has SHA-256 .* has c4a38c50' "$DAWN" data fetch cifar10 --from x.tar.gz --to d
[ -e x.tar.gz ]
[ ! -e d/cifar-10-batches-bin ]

[ "$(status "$DAWN" data fetch cifar10 --mirror ftp://127.0.0.1 --to d)" = 2 ]
says 2 'there are: .*cifar10' "$DAWN" data fetch svhn --to d
if [ -w /dev/null ] && [ "$(id -u)" != 0 ]; then # root writes anywhere
    mkdir locked && chmod 555 locked
    says 1 'locked' "$DAWN" data fetch cifar10 --mirror "$url/whole" --to locked
fi

# A list of many files: the first one decides. (Whole lists are fetched in test_data_fetch.c.)
says 1 "$url/missing/ImageSets/Main/trainval.txt answered 404" "$DAWN" data fetch bccd --mirror "$url/missing" --to many
says 1 'offers 170052171 bytes; ImageSets/Main/trainval.txt of BCCD has 4964' "$DAWN" data fetch bccd --mirror "$url/whole" --to many
mkdir -p there/ImageSets/Main
head -c 4964 /dev/zero >there/ImageSets/Main/trainval.txt
says 1 'but ImageSets/Main/trainval.txt of BCCD has 6aea0ac1' "$DAWN" data fetch bccd --from there --to many
[ -z "$(find many -type f)" ]

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end of "make demo": signs the last run, starts a scoreboard on a free loopback port, submits the run, and prints its address.
# It stops when Enter is pressed, or at once without a terminal. The key, the board and its database are in a folder that is
# removed at the end.
set -eu
. "$(dirname "$0")/wait.sh"
work=$(mktemp -d)
server=''
finish() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
export XDG_CONFIG_HOME=$work/config
unset DAWN_KEY DAWN_SERVER DAWN_HANDLE SSH_AUTH_SOCK

"$DAWN" keys new demo >"$work/key"
"$BOARD" --db "$work/scoreboard.db" --listen 127.0.0.1:0 --origin demo >"$work/said" 2>&1 &
server=$!
wait_line "$server" "$work/said" Ctrl-C
address=$(sed -n 's/.*\(http:[^ ]*[0-9]\).*/\1/p' "$work/said" | head -n 1)
results=${DAWN_RESULTS:-results.db}
run=$("$DAWN" results list --db "$results" | awk '$1 ~ /^[0-9]+$/ { last = $1 } END { print last }')
echo
"$DAWN" submit "$results" --run "$run" --server "$address" --handle you --yes
echo
echo "Your run is on the board demo of your own scoreboard:"
echo "  $address/boards/demo/training-time?trust=imported"
echo "Next: ./dawn results show explains the run, ./dawn data fetch cifar10 gets the real images, and README.md goes on from there."
if [ -t 0 ] && [ -t 1 ]; then
    echo "Enter stops it."
    read -r _ || true
fi

# SPDX-License-Identifier: Apache-2.0
# kill -9 in forty rounds while runs arrive (KILL_ROUNDS for more; `make fault` plays a thousand): no acknowledged run is lost, and
# the log never forks (test/fault/kill9.c).
set -eu
[ -x "$FAULT/kill9" ] || { echo "test/fault/kill9 is not built"; exit 77; }
"$FAULT/kill9" "${KILL_ROUNDS:-40}"

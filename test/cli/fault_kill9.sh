# SPDX-License-Identifier: Apache-2.0
# A hundred times kill -9 while runs arrive (`make fault` does a thousand): no acknowledged run is lost (test/fault/kill9.c).
set -eu
[ -x "$FAULT/kill9" ] || { echo "test/fault/kill9 is not built"; exit 77; }
"$FAULT/kill9" 100

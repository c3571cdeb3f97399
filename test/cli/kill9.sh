# SPDX-License-Identifier: Apache-2.0
# A hundred times kill -9 while runs arrive: no acknowledged run is lost (test/fault/kill9.c; `make fault` does a thousand).
set -eu
kill9=${FAULT:-$ROOT/build/test/fault}/kill9
[ -x "$kill9" ] || { echo "test/fault/kill9 is not built"; exit 77; }
"$kill9" 100

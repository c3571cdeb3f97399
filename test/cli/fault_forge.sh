# SPDX-License-Identifier: Apache-2.0
# A forger's attacks on the checks and on the board: each has its expected result (test/fault/forge.c).
set -eu
[ -x "$FAULT/forge" ] || { echo "test/fault/forge is not built"; exit 77; }
"$FAULT/forge"

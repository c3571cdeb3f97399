# SPDX-License-Identifier: Apache-2.0
# Four hundred slow senders are closed in time, and others do not wait for them (test/fault/drip.c).
set -eu
[ -x "$FAULT/drip" ] || { echo "test/fault/drip is not built"; exit 77; }
"$FAULT/drip"

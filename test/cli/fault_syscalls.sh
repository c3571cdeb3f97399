# SPDX-License-Identifier: Apache-2.0
# Every system call of the storage fails once: 503, pages are still served, and nothing is lost (test/fault/syscalls.c).
set -eu
[ -x "$FAULT/syscalls" ] || { echo "test/fault/syscalls is not built"; exit 77; }
"$FAULT/syscalls"

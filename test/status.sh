# SPDX-License-Identifier: Apache-2.0
# For scenarios: . "$ROOT/test/status.sh".

status() { # COMMAND...: prints its exit status; its output is in out and err
    local rc=0
    "$@" >out 2>err || rc=$?
    echo "$rc"
}

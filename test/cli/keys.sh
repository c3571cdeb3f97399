#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dawn keys: making, listing, showing; files that others may read; a real ssh-agent; and ssh-keygen's signatures,
# checked with the line of signers that we print.
set -eu
export HOME=$PWD/home
unset SSH_AGENT_PID
. "$ROOT/test/status.sh"
umask 022 # the mode of the public key follows it
mkdir home
ring=$HOME/.config/dawn/keys
trap '[ -z "${SSH_AGENT_PID:-}" ] || kill "$SSH_AGENT_PID"' EXIT

keys() { "$DAWN" keys "$@" >out 2>err; }

refused() { # STATUS SENTENCE ARGUMENTS...: no output, one line of error that holds the sentence
    local status=$1 says=$2 rc=0
    shift 2
    keys "$@" || rc=$?
    [ "$rc" = "$status" ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$says" err && return 0
    echo "dawn keys $*: status $rc, said:"
    cat out err
    return 1
}

id() { ssh-keygen -l -f "$1" | cut -d' ' -f2; }

# ---- making ----------------------------------------------------------------------------------------------------------
keys
reads out '^No default: .*dawn keys new'
refused 1 'there is no key to sign with' show
keys new
grep -v '^  secret ' out | awk 'length > 80 { exit 1 }'
[ "$(stat -c %a "$ring" "$ring/dawn" "$ring/dawn.pub" | xargs)" = "700 600 644" ]
grep -qF "$(id "$ring/dawn")" out
lacks out 'PRIVATE|the default'
ssh-keygen -y -f "$ring/dawn" | cmp - "$ring/dawn.pub"
keys list
grep -qxF "* dawn              $(id "$ring/dawn.pub")  file" out
[ "$(wc -l <out)" = 1 ]
cp "$ring/dawn" before
refused 1 'there is a key "dawn" already' new
refused 1 'there is a key "dawn" already' new dawn
cmp before "$ring/dawn"
refused 2 "a key's name must be" new ../dawn
refused 2 "a key's name must be" new ''
refused 2 'must not end in .pub' new dawn.pub

# ---- words that are wrong --------------------------------------------------------------------------------------------
refused 2 'did you mean "show"' shwo
refused 2 'there are list, new, show, rotate and revoke' frobnicate
refused 2 'keys list does not take "x"' list x
refused 2 'keys new does not take "b"' new a b
refused 2 '--public and --signers are for keys show' list --public
refused 2 'exclude each other' show --public --signers
refused 1 'did you mean "dawn"' show dwan

# ---- showing: OpenSSH reads our output ----------------------------------------------------------------------------
keys show
grep -qF "$(id "$ring/dawn")" out
grep -qxF "$(cat "$ring/dawn.pub")" out
keys show dawn --public
cmp out "$ring/dawn.pub"
keys show --signers
cp out signers
echo 'words' >words
for space in run-v1@dawn withdraw-v1@dawn amend-v1@dawn rotate-v1@dawn revoke-v1@dawn; do
    ssh-keygen -q -Y sign -n $space -f "$ring/dawn" <words >words.sig
    ssh-keygen -q -Y verify -n $space -f signers -I dawn -s words.sig <words
done
ssh-keygen -q -Y sign -n file -f "$ring/dawn" <words >words.sig # a signature for something else
if ssh-keygen -q -Y verify -n file -f signers -I dawn -s words.sig <words 2>said; then exit 1; fi

echo ann >"$HOME/.config/dawn/handle"
keys show --signers
ssh-keygen -q -Y sign -n run-v1@dawn -f "$ring/dawn" <words >words.sig
ssh-keygen -q -Y verify -n run-v1@dawn -f out -I ann -s words.sig <words
keys show
grep -q '^ann namespaces=' out
cp "$ring/dawn.pub" theirs.pub
keys show ./theirs.pub --signers
grep -q '^submitter namespaces=' out
rm "$HOME/.config/dawn/handle"

# ---- several keys, and which one is meant ----------------------------------------------------------------------------
ssh-keygen -q -t ed25519 -N '' -C "me at $(printf 'caf\303\251')" -f other
cp other other.pub "$ring"
DAWN_KEY=other keys show
grep -q 'me at caf??' out
DAWN_KEY=other keys new fourth
lacks out 'the default'
keys new fifth
grep -qF 'There are 4 keys now, and none of them is the default' out
grep -qF -- '--key fifth, or with DAWN_KEY=fifth' out
rm "$ring"/fourth* "$ring"/fifth*
refused 2 'several keys; name one with DAWN_KEY or on the command line: dawn, other' show
keys
[ "$(grep -c '^\*' out)" = 0 ]
grep -q '^No default: there are several keys' out
DAWN_KEY=other keys
grep -qF "* other             $(id other)  file" out
DAWN_KEY=$(id other) keys show --public
cmp out <(cut -d' ' -f1,2 other.pub | sed 's/$/ me at caf??/')
refused 1 'there is no key "nothing"' show nothing
chmod 600 words
refused 1 'words: ssh-keygen finds no public key in it, and there is no words.pub' show words
keys show ./other.pub --public
cmp out <(cut -d' ' -f1,2 other.pub | sed 's/$/ me at caf??/')
ssh-keygen -q -t ecdsa -N '' -f ecdsa
refused 1 'ecdsa.pub: not an Ed25519 public key' show ./ecdsa
rm ecdsa
refused 1 'ecdsa.pub: not an Ed25519 public key' show ecdsa.pub

# ---- secrets that others may read ------------------------------------------------------------------------------------
chmod 644 "$ring/other"
refused 1 'others may read (mode 0644)' show other
keys # the list goes on past it
reads out '! other .*others may read'
grep -q '^  dawn ' out
rm "$ring"/*

# ---- the key of ssh itself -------------------------------------------------------------------------------------------
mkdir -m 700 home/.ssh
ssh-keygen -q -t ed25519 -N '' -C mine -f home/.ssh/id_ed25519
keys
grep -qxF "* ~/.ssh/id_ed25519 $(id home/.ssh/id_ed25519)  file" out
keys show --public
cmp out home/.ssh/id_ed25519.pub

# ---- encrypted keys, and the agent -----------------------------------------------------------------------------------
ssh-keygen -q -t ed25519 -a 1 -N secret -C locked -f locked
eval "$(ssh-agent -s -a "$PWD/agent")" >/dev/null
printf '#!/bin/sh\necho secret\n' >askpass
chmod 700 askpass
SSH_ASKPASS=$PWD/askpass SSH_ASKPASS_REQUIRE=force DISPLAY=:9 ssh-add locked 2>/dev/null
keys
grep -qxF "  -                 $(id locked)  agent" out
cp locked.pub "$ring/work.pub"
keys
grep -qxF "* work              $(id locked)  agent" out
[ "$(grep -cF "$(id locked)" out)" = 1 ]
cp locked "$ring/work"
keys
grep -qxF "* work              $(id locked)" out
grep -qx ' *file, agent' out
rm "$ring/work"
ssh-add -D 2>/dev/null
keys
grep -qxF "* work              $(id locked)" out
grep -qx ' *not in the ssh-agent now' out
awk 'length > 80 { exit 1 }' out

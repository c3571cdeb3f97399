#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The nginx configuration of docs/deploy.md before a real scoreboard: TLS, a submission, limits. The installed systemd unit, read by
# systemd where that is there.
set -eu
PATH=$PATH:/usr/sbin
for program in nginx openssl curl python3; do
    command -v "$program" >/dev/null || { echo "no $program here"; exit 77; }
done
. "$ROOT/test/wait.sh"
export XDG_CONFIG_HOME=$PWD/config

cp -R "$ROOT/docs" . # the page's own function makes the file out of its block
eval "$(grep '^block() ' docs/deploy.md)"
unit=$ROOT/.package/dawn-scoreboard.service
[ -n "$(block nginx)" ]
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

server='' proxy=''
finish() { for p in $proxy $server; do kill "$p" 2>/dev/null && wait "$p" 2>/dev/null || true; done; }
trap finish EXIT

# The server, with the words of the unit but for places and the port.
command=$(sed -n 's/^ExecStart=[^ ]*dawn-scoreboard //p' "$unit")
[ -n "$command" ]
command=$(sed "s#/var/lib/dawn#$PWD#; s#127.0.0.1:8080#127.0.0.1:0#; s#\${ORIGIN}#board.example#g" <<<"$command")
"$BOARD" $command >said 2>&1 &
server=$!
wait_line $server said Ctrl-C
port=$(sed -n 's#.*http://127.0.0.1:\([0-9]*\).*#\1#p' said | head -n 1)
[ -n "$port" ]

# nginx in front, with the page's text but for places and ports.
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=board.example -addext subjectAltName=DNS:board.example,IP:127.0.0.1 \
    -keyout key.pem -out cert.pem 2>/dev/null
mkdir temp
cat >nginx.conf <<CONF
$([ "$(id -u)" -ne 0 ] || echo "user root;")
worker_processes 1;
pid $PWD/nginx.pid;
error_log $PWD/error.log warn;
daemon off;
events { worker_connections 256; }
http {
    access_log off;
    client_body_temp_path $PWD/temp/body;
    proxy_temp_path $PWD/temp/proxy;
    fastcgi_temp_path $PWD/temp/fastcgi;
    uwsgi_temp_path $PWD/temp/uwsgi;
    scgi_temp_path $PWD/temp/scgi;
    include $PWD/site.conf;
}
CONF
get() { curl -sS --cacert cert.pem "$@"; }
answers() { ended "$proxy" || get -o /dev/null "$site/"; }
start_proxy() { # at a port that was free a moment ago; another program may have taken it, so the caller tries again
    tls=$(free_port)
    site=https://127.0.0.1:$tls
    block nginx | sed "s#127.0.0.1:8080#127.0.0.1:$port#; s#listen 443 ssl#listen 127.0.0.1:$tls ssl#
        s#/etc/ssl/board.example.pem#$PWD/cert.pem#; s#/etc/ssl/board.example.key#$PWD/key.pem#" >site.conf
    nginx -p "$PWD" -c "$PWD/nginx.conf" 2>nginx.err &
    proxy=$!
    wait_for answers && ! ended "$proxy"
}
start_proxy || start_proxy || start_proxy || { cat nginx.err error.log; exit 1; }

[ "$(get -o page -w '%{http_code}' "$site/")" = 200 ]
grep -q '<title>' page
get -D heads -o /dev/null "$site/boards/cifar10"
grep -qi '^strict-transport-security: max-age=31536000' heads
grep -qi "^content-security-policy: default-src 'none'" heads
get "$site/api/v1" | grep -q '"board": *"board.example"'

# A tag survives compression or not, but a repeated question is answered without a body.
get -D heads -o /dev/null "$site/style.css"
tag=$(sed -n 's/^[Ee][Tt]ag: *\([^\r]*\).*/\1/p' heads)
[ "$(get -o /dev/null -w '%{http_code}' -H "If-None-Match: $tag" "$site/style.css")" = 304 ]

# All text leaves compressed, under every name.
for path in / /script.js /style.css /favicon.svg /feed.atom /api/v1 /api/v1/nothing /boards/cifar10/training-time.csv; do
    get -H 'Accept-Encoding: gzip' -D heads -o /dev/null "$site$path"
    grep -qi '^content-encoding: gzip' heads || { echo "$path is not compressed"; cat heads; exit 1; }
done

# A submission through all of it. dawn trusts the certificate only because SSL_CERT_FILE names it.
"$DAWN" keys new >/dev/null
"$DAWN" train cifar10 --data synthetic --set epochs=1 --set batch=500 >/dev/null 2>&1 || [ $? = 3 ]
if "$DAWN" submit results.db --server "$site" --handle ann --yes >out 2>err; then
    echo "a certificate that nobody vouches for was accepted"
    exit 1
fi
grep -qi certificate err
SSL_CERT_FILE=$PWD/cert.pem "$DAWN" submit results.db --server "$site" --handle ann --yes >out 2>err || { cat out err; exit 1; }
get "$site/api/v1/statements" | grep -q '"handle": *"ann"'

# A client that reads too many pages has to wait, but the beats of its runs still pass.
none=$(printf '0%.0s' $(seq 64))
beat() { get -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' -d "$1" "$site/api/v1/tickets/$none/beats"; }
get -o /dev/null -w '%{http_code}\n' "$site/api/v1/health?[1-250]" >codes
grep -q 429 codes
[ "$(beat "{\"hash\":\"$none\",\"secret\":\"$none\"}")" = 404 ]
[ "$(beat '{}')" = 400 ]

# Too large a body ends at nginx; too many uploads too.
head -c 2000000 /dev/zero >large
[ "$(get -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' --data-binary @large "$site/api/v1/statements")" = 413 ]
# One process and one connection for all of them: the limit is a rate, which a slow sender would not reach.
get -o /dev/null -w '%{http_code}\n' -H 'Content-Type: application/json' -d '{}' "$site/api/v1/statements?[1-100]" >codes
grep -q 429 codes

kill "$server"
wait "$server"
server=''

if command -v systemd-analyze >/dev/null; then
    ln -s "$BOARD" board # the path of the tree may have a blank
    sed "s#@PREFIX@/bin/dawn-scoreboard#$PWD/board#; s#^User=.*##" "$unit" >dawn-scoreboard.service
    systemd-analyze verify --man=no ./dawn-scoreboard.service 2>unit.err || { cat unit.err; exit 1; }
    if grep -i 'dawn-scoreboard.service.*unknown' unit.err; then exit 1; fi
fi
echo "nginx, TLS, submission, limits"

#!/bin/sh
# Asks a server for experiments and tells their results, until the verdict is in. Needs curl, sed and awk, and a server:
#   satisfice new --storage lab.db --name demo --target 0.99 --noise 0 --param x=0.0:1.0 --param y=0.0:1.0
#   SATISFICE_TOKEN=choose-a-long-secret satisfice serve --storage lab.db
set -eu
study="${SATISFICE_URL:-http://127.0.0.1:8765}/api/studies/${1:-demo}"

call() { # METHOD PATH [BODY]: sent again until an answer comes; the key makes sure that it counts once
    key="$$-$(date +%s)-${calls:=0}" calls=$((calls + 1))
    printf 'header = "Authorization: Bearer %s"\n' "$SATISFICE_TOKEN" |
        curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused --config - --request "$1" \
            --header "Content-Type: application/json" --header "Idempotency-Key: $key" ${3:+--data "$3"} "$study$2"
}
field() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^,}\"]*\).*/\1/p"; } # the value of a name in a line of JSON

for round in $(seq 60); do
    call POST /ask '{"n": 1, "by": "a shell"}' >asked.json
    number=$(field number <asked.json) x=$(field x <asked.json) y=$(field y <asked.json)
    # your experiment comes here
    value=$(awk "BEGIN { print 1 - ($x - 0.3) ^ 2 - ($y - 0.6) ^ 2 }")
    call POST /tell "{\"number\": $number, \"values\": {\"value\": $value}}" >/dev/null
    verdict=$(call GET "" | field verdict)
    echo "experiment $number: x = $x, y = $y gives $value; $verdict"
    [ "$verdict" = open ] || exit 0
done
exit 1

#!/usr/bin/env bash
# Tries what kills can do to a campaign: a seeded campaign by one process, and the same by three workers, of which one
# is killed every ten seconds, every other minute one is stopped for longer than its lease, and the server is killed and
# started again in between. Compares what was released. Prints "equal" and ends with 0, or says what differs and ends
# with 1.
#
#   docs/cluster/try-faults.sh DPTRAIN [ARGUMENT...]     # the program; arguments of dptrain reproduce, such as
#                                                        # figure_tune_lr_dp_sgd --datasets mnist --epsilons 4
#
# Runs must take less than half a minute, since no worker lives longer. KEEP=1 keeps the folder.

set -euo pipefail

[ $# -gt 0 ] || { echo "usage: $0 DPTRAIN [ARGUMENT...]" >&2; exit 2; }
dptrain=$(realpath "$1")
shift
campaign=(reproduce --quick --insecure-seed 11 "$@")
[ $# -gt 0 ] || campaign+=(figure_tune_lr_dp_sgd figure_tune_lr_dp_adam --datasets glyphs)

dir=$(mktemp -d /tmp/try-faults.XXXXXX)
cd "$dir"
workers=(0 0 0)
server=0
clean() {
    local code=$?
    trap - EXIT INT TERM
    for p in "${workers[@]}" "$server" "${coordinator:-0}"; do
        if [ "$p" -gt 0 ]; then kill -CONT "$p" 2>/dev/null || true; kill -KILL "$p" 2>/dev/null || true; fi
    done
    wait 2>/dev/null || true
    cd /
    if [ -n "${KEEP:-}" ]; then echo "kept $dir"; else rm -rf "$dir"; fi
    exit "$code"
}
trap clean EXIT
trap 'exit 130' INT TERM

begin=$SECONDS
"$dptrain" "${campaign[@]}" --out one >one.out 2>one.log
echo "one process: $((SECONDS - begin)) s"

serve() { "$dptrain" cluster serve --dir server >>server.out 2>>server.log & server=$!; }
start() { "$dptrain" worker --cluster server/cluster.yaml --batch 1 2>>"worker$1.log" & workers[$1]=$!; }
serve
until [ -e server/cluster.yaml ]; do sleep 0.1; done
begin=$SECONDS
"$dptrain" "${campaign[@]}" --out many --cluster server/cluster.yaml >many.out 2>many.log &
coordinator=$!
for i in 0 1 2; do start "$i"; done
kills=0 stops=0 restarts=0
while kill -0 "$coordinator" 2>/dev/null; do
    for _ in {1..100}; do kill -0 "$coordinator" 2>/dev/null && sleep 0.1; done
    kill -0 "$coordinator" 2>/dev/null || break
    i=$((kills % 3))
    kill -KILL "${workers[i]}"
    wait "${workers[i]}" 2>/dev/null || true
    start "$i"
    kills=$((kills + 1))
    if [ $((kills % 6)) = 2 ]; then
        kill -KILL "$server"
        wait "$server" 2>/dev/null || true
        sleep 1
        serve
        restarts=$((restarts + 1))
    fi
    if [ $((kills % 12)) = 5 ]; then # killed before it goes on, or late with a result that another has delivered
        stopped=${workers[(i + 1) % 3]}
        kill -STOP "$stopped"
        (sleep 19; kill -CONT "$stopped" 2>/dev/null) &
        stops=$((stops + 1))
    fi
done
wait "$coordinator" || { tail -n 3 many.log; echo "the coordinator failed"; exit 1; }
echo "three workers: $((SECONDS - begin)) s; $kills killed, $stops stopped, the server killed $restarts times"

for out in one many; do
    (cd "$out" && find runs -path '*/released/*' -type f -print0 | sort -z | xargs -0 sha256sum && sha256sum figures/*.csv) >"$out.sums"
done
diff one.sums many.sums || exit 1
echo "equal: $(wc -l <one.sums) files"

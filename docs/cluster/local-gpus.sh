#!/usr/bin/env bash
# One worker for each GPU of this machine, or one on the CPU if there is no GPU. A worker that dies is started again
# after a pause; one that ends because there is nothing to do, or that is refused, isn't. Ctrl-C stops all: what they
# were at goes to other machines. Twice Ctrl-C kills them.
#
#   docs/cluster/local-gpus.sh cluster.yaml
#   docs/cluster/local-gpus.sh cluster.yaml --idle 10m --datasets mnist,imdb     # flags of dptrain worker
#   GPUS=0,2 docs/cluster/local-gpus.sh cluster.yaml                             # by number, as nvidia-smi -L counts
#   GPUS=cpu docs/cluster/local-gpus.sh cluster.yaml                             # no GPU
#
# What the script reads besides: DPTRAIN, the program; DPTRAIN_DATA, the folder of the data sets; CUDA_VISIBLE_DEVICES,
# which limits the GPUs if GPUS isn't set; PAUSE, the first pause in seconds, which doubles up to a minute.

# Workers get process groups of their own. So Ctrl-C reaches this script alone, and each worker gets one signal of it:
# a second one would kill it.
set -um

if [ $# -lt 1 ]; then
    echo "usage: local-gpus.sh CLUSTER.YAML [flags of dptrain worker]" >&2
    exit 2
fi
file=$1
shift
dptrain=${DPTRAIN:-dptrain}
command -v "$dptrain" >/dev/null || { echo "local-gpus: $dptrain isn't there; DPTRAIN says where it is" >&2; exit 3; }

# GPUs are named by their UUIDs: CUDA may count them in another order than nvidia-smi. A GPU that is divided has the
# UUIDs of its parts (MIG) below its own.
gpus=()
list() {
    local text line number want=$1 whole='' parts=0 chosen=
    text=$(nvidia-smi -L) || { echo "local-gpus: nvidia-smi -L lists no GPUs: $text; GPUS=cpu trains on the CPU" >&2; exit 7; }
    while IFS= read -r line; do
        if [[ $line =~ ^GPU\ ([0-9]+):.*UUID:\ (GPU-[^\)]+) ]]; then
            if [ -n "$chosen" ] && [ "$parts" -eq 0 ]; then gpus+=("$whole"); fi
            number=${BASH_REMATCH[1]} whole=${BASH_REMATCH[2]} parts=0 chosen=
            if [ -z "$want" ] || [[ ,$want, == *,$number,* ]]; then chosen=yes; fi
        elif [ -n "$chosen" ] && [[ $line =~ UUID:\ (MIG-[^\)]+) ]]; then
            gpus+=("${BASH_REMATCH[1]}")
            parts=$((parts + 1))
        fi
    done <<<"$text"
    if [ -n "$chosen" ] && [ "$parts" -eq 0 ]; then gpus+=("$whole"); fi
    if [ -n "$want" ] && [ ${#gpus[@]} -eq 0 ]; then
        echo "local-gpus: nvidia-smi -L has none of GPUS=$want" >&2
        exit 7
    fi
}
if [ "${GPUS:-}" = cpu ]; then
    :
elif [ -n "${GPUS:-}" ]; then
    list "$GPUS"
elif [ -n "${CUDA_VISIBLE_DEVICES:-}" ]; then
    IFS=, read -r -a gpus <<<"$CUDA_VISIBLE_DEVICES"
elif command -v nvidia-smi >/dev/null; then
    list ""
fi

# supervise runs a worker until it has ended for good. Its arguments are how it is called and its environment and flags.
supervise() {
    local name=$1 pid='' stopping='' code began pause=${PAUSE:-5}
    shift
    # shellcheck disable=SC2317 # the trap calls it
    stop() {
        stopping=yes
        [ -z "$pid" ] || kill -TERM "$pid" 2>/dev/null
    }
    trap stop TERM
    while [ -z "$stopping" ]; do
        began=$SECONDS
        env "$@" 2> >(sed -u "s/^/$name: /" >&2) &
        pid=$!
        wait "$pid"
        code=$?
        while kill -0 "$pid" 2>/dev/null; do # a signal interrupts wait
            wait "$pid"
            code=$?
        done
        case $code in
        0) return 0 ;;
        2 | 3) # wrong flags; refused, or no file: trying again doesn't help
            echo "$name: ended for good with code $code" >&2
            return "$code"
            ;;
        esac
        if [ -n "$stopping" ]; then return 130; fi
        if [ $((SECONDS - began)) -gt 600 ]; then pause=${PAUSE:-5}; fi
        echo "$name: died with code $code; again in $pause s" >&2
        sleep "$pause" &
        pid=$!
        wait "$pid"
        pause=$((pause * 2 < 60 ? pause * 2 : 60))
    done
    return 130
}

cores=$(nproc)
supervisors=()
if [ ${#gpus[@]} -eq 0 ]; then
    echo "local-gpus: one worker on the CPU" >&2
    supervise cpu "$dptrain" worker --cluster "$file" --engine cpu "$@" &
    supervisors+=($!)
else
    echo "local-gpus: ${#gpus[@]} workers, on ${gpus[*]}" >&2
    share=$((cores > ${#gpus[@]} ? cores / ${#gpus[@]} : 1))
    for gpu in "${gpus[@]}"; do
        supervise "gpu ${gpu:0:12}" CUDA_VISIBLE_DEVICES="$gpu" "$dptrain" worker --cluster "$file" --engine cuda \
            --devices 0 --workers "$share" "$@" &
        supervisors+=($!)
    done
fi

trap 'kill -TERM "${supervisors[@]}" 2>/dev/null' INT TERM HUP
worst=0
for pid in "${supervisors[@]}"; do
    while :; do
        wait "$pid"
        code=$?
        kill -0 "$pid" 2>/dev/null || break
    done
    if [ "$code" -gt "$worst" ]; then worst=$code; fi
done
exit "$worst"

#!/usr/bin/env bash
# Workers as an array of Slurm jobs. Each element trains what the coordinator hands out, and ends when there was nothing
# to do for five minutes.
#
# 1. Start the coordinator where all nodes reach it, such as on a login node. It trains nothing itself:
#
#      dptrain reproduce --cluster embedded --listen :4222 --out /shared/reproduction
#
# 2. Start workers, here eight elements with one GPU each. The file must lie where the nodes see it, and must be
#    readable by its owner alone:
#
#      sbatch --array=0-7 --gres=gpu:1 slurm.sh /shared/reproduction/cluster/cluster.yaml
#
#    Arguments after the file go to dptrain worker, such as: --datasets mnist. Options of sbatch stand before the script
#    and override the lines below.
#
# More elements may be started at any time, and any of them cancelled, requeued or preempted: what they were at goes to
# others, and every run ends in the same bytes. So a partition whose jobs are preempted is fine.
#
# What the script reads: DPTRAIN, the program (it must be the coordinator's own build); DPTRAIN_DATA, the folder of the
# data sets; IDLE, when a worker without work ends.

#SBATCH --job-name=dptrain
#SBATCH --array=0-3
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8G
#SBATCH --time=04:00:00
#SBATCH --output=dptrain-%A_%a.log
# One log for each element, also when it begins anew.
#SBATCH --open-mode=append
# Slurm queues the element again when its node fails, or when it is preempted.
#SBATCH --requeue
# A minute before the time limit this script, and no other process, gets USR1. It isn't TERM, which comes of scancel and
# of preemption too: after USR1 the element asks for more time, after TERM it doesn't.
#SBATCH --signal=B:USR1@60

# shellcheck disable=SC2317 # traps call functions
set -uo pipefail

if [ $# -lt 1 ]; then
    echo "usage: sbatch [options of sbatch] slurm.sh CLUSTER.YAML [flags of dptrain worker]" >&2
    exit 2
fi
file=$1
shift
dptrain=${DPTRAIN:-dptrain}
idle=${IDLE:-5m}
cores=${SLURM_CPUS_PER_TASK:-0} # 0 means all

# One worker for each GPU of the element: small models fill a GPU by training side by side, but not two GPUs.
# CUDA_VISIBLE_DEVICES lists what Slurm gave the element. Each worker sees one of them, which has number 0 there.
gpus=()
if [ -n "${CUDA_VISIBLE_DEVICES:-}" ] && [ "$CUDA_VISIBLE_DEVICES" != NoDevFiles ]; then
    IFS=, read -r -a gpus <<<"$CUDA_VISIBLE_DEVICES"
elif [ "${SLURM_GPUS_ON_NODE:-0}" -gt 0 ]; then # a Slurm that sets no CUDA_VISIBLE_DEVICES
    for ((i = 0; i < SLURM_GPUS_ON_NODE; i++)); do gpus+=("$i"); done
fi

workers=()
if [ ${#gpus[@]} -eq 0 ]; then
    "$dptrain" worker --cluster "$file" --idle "$idle" --workers "$cores" --engine cpu "$@" &
    workers+=($!)
else
    share=$((cores / ${#gpus[@]}))
    if [ "$cores" -gt 0 ] && [ "$share" -eq 0 ]; then share=1; fi
    for gpu in "${gpus[@]}"; do
        CUDA_VISIBLE_DEVICES=$gpu "$dptrain" worker --cluster "$file" --idle "$idle" --workers "$share" \
            --engine cuda --devices 0 "$@" &
        workers+=($!)
    done
fi

# A worker that gets TERM gives back at once what it is at. A second TERM kills it; then others take over half a minute
# later.
stopping=
interrupted=
reminder=
forward() { kill -TERM "${workers[@]}" 2>/dev/null; }
late() {
    interrupted=yes
    stopping=late
    echo "the time limit is close: stopping" >&2
    forward
}
cancelled() { # Slurm usually sends TERM to the workers as well, and then this comes too late for a second one
    interrupted=yes
    if [ -z "$stopping" ]; then
        stopping=cancelled
        { sleep 5; forward; } &
        reminder=$!
    fi
}
trap late USR1
trap cancelled TERM INT

# The exit code is that of the first worker that failed: dptrain worker --help lists them. 130 is a worker that was
# stopped, and 143 one that was stopped before it began.
code=0
for pid in "${workers[@]}"; do
    ended=0
    while :; do
        interrupted=
        wait "$pid"
        got=$?
        if [ "$got" -ne 127 ]; then ended=$got; fi # 127: an earlier wait had the code already
        if [ -z "$interrupted" ]; then break; fi   # otherwise a signal may have ended wait, and not the worker
    done
    case $ended in
    0 | 130 | 143) ;;
    *) if [ "$code" -eq 0 ]; then code=$ended; fi ;;
    esac
done

if [ -n "$reminder" ]; then kill "$reminder" 2>/dev/null; fi # all have ended

# The element goes on in the queue. It ends for good when it finds nothing to do; the bound is for what nobody foresaw.
if [ "$stopping" = late ] && [ "$code" -eq 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 50 ]; then
    element=$SLURM_JOB_ID
    if [ -n "${SLURM_ARRAY_JOB_ID:-}" ]; then element=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID; fi
    scontrol requeue "$element" || code=1
fi
exit "$code"

#!/usr/bin/env bash
# Tries slurm.sh on one Debian machine, as root: installs Slurm, starts it with one node below a temporary folder, has
# an array of three elements train a seeded campaign on the built-in data set, cancels one element and requeues another
# in the middle, and compares what was released with the same campaign by one process. Takes some minutes. Prints "equal"
# and ends with 0, or says what differs and ends with 1.
#
#   docs/cluster/try-slurm.sh [DPTRAIN]     # the program; without it, it is built from this checkout
#
# It stops what it started, removes the folder, and leaves the packages installed. KEEP=1 keeps the folder.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "$(id -u)" -eq 0 ] || { echo "this needs root: slurmd starts jobs as their users" >&2; exit 2; }

if ! command -v slurmctld slurmd munged sbatch >/dev/null; then
    apt-get update && apt-get install --yes --no-install-recommends slurm-wlm munge
fi

dir=$(mktemp -d /tmp/try-slurm.XXXXXX)
mkdir "$dir/state" "$dir/spool" "$dir/jobs"
started=()
clean() {
    local code=$?
    trap - EXIT INT TERM
    if [ -n "${SLURM_CONF:-}" ]; then scancel --user root >/dev/null 2>&1 || true; fi
    sleep 2
    for ((i = ${#started[@]} - 1; i >= 0; i--)); do kill "${started[i]}" 2>/dev/null || true; done
    wait
    if [ -n "${KEEP:-}" ]; then echo "kept $dir"; else rm -rf "$dir"; fi
    exit "$code"
}
trap clean EXIT
trap 'exit 130' INT TERM

if [ $# -gt 0 ]; then
    dptrain=$(realpath "$1")
else
    (cd "$here/../.." && go build -o "$dir/dptrain" ./cmd/dptrain)
    dptrain=$dir/dptrain
fi

# Munge tells Slurm who a user is. This one has a key and a socket of its own.
chmod 755 "$dir"
mkdir "$dir/munge"
head -c 1024 /dev/urandom >"$dir/munge/key"
chmod 400 "$dir/munge/key"
munged --foreground --force --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" \
    --seed-file="$dir/munge/seed" --log-file="$dir/munge/log" 2>"$dir/munge/errors" &
started+=($!)

host=$(hostname -s)
memory=$(awk '/^MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
controller=$((20000 + RANDOM % 5000))
cat >"$dir/slurm.conf" <<CONF
ClusterName=try
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$((controller + 1))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,defer_batch
# Three elements run at once, however few cores there are.
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=6 RealMemory=$memory State=UNKNOWN
PartitionName=try Nodes=$host Default=YES MaxTime=1-0 State=UP
CONF
export SLURM_CONF=$dir/slurm.conf
for ((i = 0; i < 50; i++)); do [ -S "$dir/munge/socket" ] && break; sleep 0.1; done
slurmctld -D -c 2>"$dir/slurmctld.errors" &
started+=($!)
slurmd -D -N "$host" 2>"$dir/slurmd.errors" &
started+=($!)
for ((i = 0; i < 60; i++)); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && break
    sleep 0.5
done
[ "$(sinfo --noheader --format=%T)" = idle ] || { tail -n 20 "$dir"/slurm*.log "$dir"/*.errors >&2; exit 1; }

# The same seed gives the same bytes on the same processor, whoever trains.
campaign=(reproduce figure_tune_lr_dp_sgd --datasets glyphs --epsilons 4 --repetitions 2 --insecure-seed 1 --quiet)
cd "$dir"
"$dptrain" "${campaign[@]}" --out cluster --cluster embedded --advertise localhost &
coordinator=$!
started+=("$coordinator")
for ((i = 0; i < 100; i++)); do [ -s cluster/cluster/cluster.yaml ] && break; sleep 0.1; done

array=$(DPTRAIN=$dptrain IDLE=20s sbatch --parsable --array=0-2 --cpus-per-task=2 --mem=0 --chdir="$dir/jobs" \
    "$here/slurm.sh" "$dir/cluster/cluster/cluster.yaml" --datasets glyphs)
echo "job array $array"
training() { squeue --noheader --array --states=RUNNING --job="$array" | wc -l; }
for ((i = 0; i < 100; i++)); do [ "$(training)" -eq 3 ] && break; sleep 0.2; done
squeue --array
[ "$(training)" -eq 3 ] || { echo "three elements didn't start" >&2; exit 1; }
sleep 8
scancel "${array}_0"
echo "cancelled ${array}_0"
sleep 4
scontrol requeue "${array}_1"
echo "requeued ${array}_1"
sleep 1
kill -0 "$coordinator" || { echo "the campaign ended before anything was cancelled: nothing was tried" >&2; exit 1; }
wait "$coordinator"
echo "the campaign has ended; now the same by one process"
for ((i = 0; i < 120; i++)); do [ -z "$(squeue --noheader)" ] && break; sleep 1; done
squeue --array
tail -n 4 jobs/*.log

"$dptrain" "${campaign[@]}" --out alone

sums() { (cd "$1/runs" && find . -path '*/released/*' -type f -print0 | sort -z | xargs -0 sha256sum); }
sums cluster >cluster.sums
sums alone >alone.sums
[ -s alone.sums ] || { echo "no run released anything" >&2; exit 1; }
diff alone.sums cluster.sums || { echo "the releases differ" >&2; exit 1; }
echo "equal: $(wc -l <alone.sums) released files of $(find alone/runs -type d -name released | wc -l) runs"

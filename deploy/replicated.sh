#!/usr/bin/env bash
# Three etcd nodes and three replicas on free ports of loopback, and one game: each move goes to another replica, while
# a watcher sits on the first. In its middle that replica, and later the node that leads etcd, is killed without warning
# and started again, and the game goes on. Then everything stays until Ctrl-C; its data go with it.
#   deploy/replicated.sh [--once]    with everything built; deploy/run.sh --replicated ends here
#   --once    stop everything after the game and exit 0
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
client_ports=() peer_ports=() cluster=    # of etcd's nodes
addresses=()                              # of the replicas
declare -A running=()                     # process by name: etcd-0, replica-0, game

say() {
  printf '== %s\n' "$*"
}

# Kills without warning and waits until it is gone.
kill_now() {
  kill -KILL "${running[$1]}"
  { wait "${running[$1]}"; } 2>/dev/null || true
  unset "running[$1]"
}

# Stops everything that runs. Fails when a replica does not end well; etcd's data go anyway.
stop() {
  trap - EXIT
  trap '' INT TERM
  local code=0 name
  say "stopping ${#running[@]} processes"
  for name in "${!running[@]}"; do [[ $name == etcd-* ]] || kill -TERM "${running[$name]}" 2>/dev/null || true; done
  for name in "${!running[@]}"; do
    [[ $name == replica-* ]] || continue
    wait "${running[$name]}" || { code=$?; echo "$name ended with $code; the end of its log:" >&2; tail "$folder/$name.log" >&2; }
    unset "running[$name]"
  done
  for name in "${!running[@]}"; do kill_now "$name" 2>/dev/null || true; done
  rm -rf "$folder"
  return "$code"
}
trap 'stop; exit' INT TERM
trap 'stop || true' EXIT

# fail <log> <words>: ends everything, for the reason that the log tells.
fail() {
  tail "$folder/$1" >&2
  echo "$2" >&2
  exit 1
}

# A port that nobody listens on, below those that connections go out from.
free_port() {
  local port
  while true; do
    port=$((20000 + RANDOM % 12000))
    { true <>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || { echo "$port"; return; }
  done
}

start_etcd() {
  etcd --name "n$1" --data-dir "$folder/etcd-$1" --initial-cluster "$cluster" \
    --listen-client-urls "http://127.0.0.1:${client_ports[$1]}" --advertise-client-urls "http://127.0.0.1:${client_ports[$1]}" \
    --listen-peer-urls "http://127.0.0.1:${peer_ports[$1]}" --initial-advertise-peer-urls "http://127.0.0.1:${peer_ports[$1]}" \
    --snapshot-count=1000 --quota-backend-bytes=8589934592 --auto-compaction-retention=5m --logger=zap \
    </dev/null >>"$folder/etcd-$1.log" 2>&1 &
  running[etcd-$1]=$!
}

# The number of the node that leads.
leader() {
  local i
  for i in 0 1 2; do
    # Its columns: endpoint, id, version, size, whether it leads, …
    [[ $(etcdctl --endpoints "127.0.0.1:${client_ports[$i]}" endpoint status 2>/dev/null) != *B,\ true,* ]] || echo "$i"
  done
}

# A replica on a free port, or again on the one that it had.
start_replica() {
  local log=$folder/replica-$1.log tries
  : >"$log"
  build/reversi_server --listen "${addresses[$1]:-127.0.0.1:0}" --metrics_listen 127.0.0.1:0 --drain_delay 0s \
    --store etcd --etcd_endpoints "$endpoints" --token_key_file "$folder/token_key" </dev/null >"$log" 2>&1 &
  running[replica-$1]=$!
  for ((tries = 0; tries < 300; ++tries)); do
    addresses[$1]=$(sed -n 's/^reversi_server listening grpc=\([^ ]*\).*/\1/p' "$log")
    [[ -z ${addresses[$1]} ]] || return 0
    kill -0 "${running[replica-$1]}" 2>/dev/null || break
    sleep 0.1
  done
  fail "replica-$1.log" "Replica $1 did not start."
}

say "3/4 starting three etcd nodes and three replicas, all data in $folder"
for i in 0 1 2; do
  client_ports[i]=$(free_port)
  peer_ports[i]=$(free_port)
  cluster+=${cluster:+,}n$i=http://127.0.0.1:${peer_ports[i]}
  endpoints=${endpoints:+$endpoints,}127.0.0.1:${client_ports[i]}
done
for i in 0 1 2; do start_etcd "$i"; done
for ((tries = 0; tries < 30; ++tries)); do
  ! etcdctl --endpoints "$endpoints" endpoint health >/dev/null 2>&1 || break
  sleep 1
done
[[ $tries -lt 30 ]] || fail etcd-0.log "etcd did not start."
head -c 48 /dev/urandom | base64 >"$folder/token_key"
for i in 0 1 2; do start_replica "$i"; done
servers=${addresses[0]},${addresses[1]},${addresses[2]}
say "etcd at $endpoints, replicas at $servers"

say "4/4 one game of four players on the Octagon; its versions must come without gap"
exec 3< <(exec build/reversi demo --server "$servers" --seed 7 --delay 50ms 2>&1)
running[game]=$!
lead=
while IFS= read -r line <&3; do
  printf '%s\n' "$line"
  [[ $line =~ ^\ *([0-9]+)\ .*\;\ played\ at ]] || continue
  case ${BASH_REMATCH[1]} in
    20) say "kill -9 of the replica at ${addresses[0]}, where the watcher is"; kill_now replica-0 ;;
    35) say "the replica at ${addresses[0]} is started again"; start_replica 0 ;;
    50) lead=$(leader)
      [[ -n $lead ]] || fail etcd-0.log "No etcd node leads."
      say "kill -9 of the etcd node at 127.0.0.1:${client_ports[lead]}, which leads: the next move waits for a new leader"
      kill_now "etcd-$lead" ;;
    70) say "the etcd node at 127.0.0.1:${client_ports[lead]} is started again"; start_etcd "$lead" ;;
  esac
done
wait "${running[game]}" || { unset "running[game]"; fail replica-1.log "The game was not played to its end."; }
unset "running[game]"
exec 3<&-

if [[ ${1:-} == --once ]]; then
  stop
  exit
fi
cat <<END

Everything is running until Ctrl-C; logs and data are in $folder and go when it stops.
In another terminal:
  export REVERSI_SERVER=$servers
  build/reversi play              a game for all players at one keyboard, each call at another replica
  build/reversi --help            everything else
END
for name in "${!running[@]}"; do wait "${running[$name]}" || true; done
fail replica-0.log "Everything ended by itself."

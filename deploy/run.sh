#!/usr/bin/env bash
# From a fresh Debian 12 to a game that was played: installs what is missing, builds into build/, starts the server on
# loopback and plays one demonstration game of four players on the Octagon. Then the server stays until Ctrl-C.
#   deploy/run.sh [--once] [--listen HOST:PORT] [--metrics_listen HOST:PORT]
#   deploy/run.sh --replicated [--once]
#   --once            stop the server after the game and exit 0
#   --listen          where the server listens (127.0.0.1:50051; port 0: any free one)
#   --metrics_listen  where its metrics are (127.0.0.1:9464)
#   --replicated      three replicas over three etcd nodes, all on free ports; some are killed while the game goes on
set -euo pipefail
cd "$(dirname "$0")/.."

once=false
replicated=false
listen=127.0.0.1:50051
metrics=127.0.0.1:9464
usage() {
  sed -n '2,9s/^# \{0,1\}//p' "$0"
}
while [[ $# -gt 0 ]]; do
  case "$1" in
    --once) once=true ;;
    --replicated) replicated=true ;;
    --listen=*) listen=${1#*=} ;;
    --metrics_listen=*) metrics=${1#*=} ;;
    --listen | --metrics_listen)
      [[ $# -gt 1 ]] || { usage >&2; exit 2; }
      if [[ $1 == --listen ]]; then listen=$2; else metrics=$2; fi
      shift ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
if $replicated && [[ $listen != 127.0.0.1:50051 || $metrics != 127.0.0.1:9464 ]]; then
  echo "run.sh: --replicated takes free ports by itself" >&2
  exit 2
fi

say() {
  printf '== %s\n' "$*"
}

say "1/4 installing what is missing"
if $replicated; then deploy/install.sh replicated; else deploy/install.sh run; fi

say "2/4 building into build/ (a few minutes the first time)"
# A folder that was configured before, perhaps with tests, is taken as it is.
[[ -f build/build.ninja ]] || cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DREVERSI_TESTS=OFF
cmake --build build --target reversi_server reversi
if $replicated; then
  words=()
  ! $once || words=(--once)
  exec deploy/replicated.sh ${words[@]+"${words[@]}"}
fi

say "3/4 starting the server at $listen"
log=build/server.log
server=
stop() {
  trap - INT TERM EXIT
  if [[ -n $server ]] && kill -TERM "$server" 2>/dev/null; then
    say "stopping the server"
    wait "$server" || return 1
  fi
}
trap 'stop; exit' INT TERM
trap 'stop || true' EXIT
: >"$log"  # there before the server is, for whoever reads it
# Nobody balances load here: it need not linger when it is told to stop.
build/reversi_server --listen "$listen" --metrics_listen "$metrics" --drain_delay 0s </dev/null >"$log" 2>&1 &
server=$!
address=
for ((i = 0; i < 300; ++i)); do
  address=$(sed -n 's/^reversi_server listening grpc=\([^ ]*\).*/\1/p' "$log")
  [[ -z $address ]] || break
  if ! kill -0 "$server" 2>/dev/null; then
    server=
    cat "$log" >&2
    echo "The server did not start. Is $listen or $metrics taken? Choose others with --listen and --metrics_listen." >&2
    exit 1
  fi
  sleep 0.1
done
[[ -n $address ]] || { cat "$log" >&2; echo "The server did not say that it listens." >&2; exit 1; }

say "4/4 one game of four players on the Octagon, random but legal moves"
build/reversi demo --server "$address"

if $once; then
  stop
  exit
fi
cat <<END

The server is running at $address until Ctrl-C; its log is $log. All games are lost when it stops.
In another terminal:
  export REVERSI_SERVER=$address
  build/reversi play              a game for all players at one keyboard
  build/reversi play --open 3     a game for others to join from their terminals
  build/reversi --help            everything else
END
wait "$server" || { server=; echo "The server ended by itself; see $log." >&2; exit 1; }

#!/bin/sh
# The benchmarks: one command for each table.
#   tests/bench/run.sh engine    playouts, perft, replay and hash; more arguments go to Google Benchmark, e.g.
#                                --benchmark_filter=playout
#   tests/bench/run.sh service   the service beside a bare gRPC server; more arguments go to service_table.py, e.g.
#                                --only unary,fan-out
#   tests/bench/run.sh stores    moves through the service beside RocksDB and etcd themselves; more arguments go to
#                                stores_table.py, e.g. --only disk
# REVERSI_BUILD_DIR names another build folder than build/.
set -eu
cd "$(dirname "$0")/../.."
build="${REVERSI_BUILD_DIR:-build}"
table="${1:-}"
case "$table" in
  engine) targets="engine_bench" ;;
  service) targets="reversi_server reversi-load bare_server submit_move_path" ;;
  stores) targets="reversi_server reversi-load bare_stores" ;;
  *) echo "usage: tests/bench/run.sh engine|service|stores [arguments]" >&2; exit 2 ;;
esac
shift
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
# shellcheck disable=SC2086  # one word a target
cmake --build "$build" --target $targets >/dev/null
case "$table" in
  engine) exec "$build/tests/bench/engine_bench" --benchmark_min_time=0.05 --benchmark_repetitions=5 "$@" ;;
  service) exec /usr/bin/python3 tests/bench/service_table.py "$build" "$@" ;;
  stores) exec /usr/bin/python3 tests/bench/stores_table.py "$build" "$@" ;;
esac

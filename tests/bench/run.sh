#!/bin/sh
# Builds the engine's benchmarks and prints their table: compiler, flags, instruction set, node counts, and at the end
# the playouts as a multiple of the slow twin. Arguments go to Google Benchmark, e.g. --benchmark_filter=playout.
# REVERSI_BUILD_DIR names another build folder than build/.
set -eu
cd "$(dirname "$0")/../.."
build="${REVERSI_BUILD_DIR:-build}"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$build" --target engine_bench >/dev/null
exec "$build/tests/bench/engine_bench" --benchmark_min_time=0.05 --benchmark_repetitions=5 "$@"

#!/usr/bin/env bash
# Installs what is missing, builds everything into build/ and runs every test.
#   tests/run.sh          the quick tier
#   tests/run.sh --long   the quick tier and the long one
set -euo pipefail
cd "$(dirname "$0")/.."

tier=(-LE long)
packages=test
case "${1:-}" in
  "") ;;
  --long) tier=() packages=long ;;
  *) echo "usage: tests/run.sh [--long]" >&2; exit 2 ;;
esac

deploy/install.sh "$packages"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DREVERSI_TESTS=ON
cmake --build build
exec ctest --test-dir build --output-on-failure --no-tests=error -j "$(nproc)" ${tier[@]+"${tier[@]}"} </dev/null

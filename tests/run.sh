#!/usr/bin/env bash
# Installs what is missing, builds everything into build/ and runs every test.
#   tests/run.sh          the quick tier
#   tests/run.sh --long   the quick tier, the long one, and the fuzzers for ten minutes each (FUZZ_SECONDS)
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
if [[ $packages == long ]]; then
  cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DREVERSI_SANITIZE=address,undefined \
    -DCMAKE_CXX_COMPILER=clang++ -DFUZZ_SECONDS="${FUZZ_SECONDS:-600}" -DFUZZ_SEED=0
  cmake --build build-fuzz --target notation_fuzz game_fuzz import_fuzz requests_fuzz
  ctest --test-dir build-fuzz --output-on-failure --no-tests=error -j "$(nproc)" -L fuzz </dev/null
fi
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DREVERSI_TESTS=ON
cmake --build build
exec ctest --test-dir build --output-on-failure --no-tests=error -j "$(nproc)" ${tier[@]+"${tier[@]}"} </dev/null

#!/usr/bin/env bash
# What the product needs from Debian 12, in one place.
#   deploy/install.sh run         what building and running the service takes
#   deploy/install.sh replicated  that, and etcd
#   deploy/install.sh test        that, and what its tests and checks take
#   deploy/install.sh long        that, and what the long tier of the tests takes
# Installs only what is missing, and says what; with everything there it does nothing and needs no rights.
set -euo pipefail

run_packages=(
  g++ cmake ninja-build
  libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
  libabsl-dev libssl-dev prometheus-cpp-dev librocksdb-dev libcli11-dev libgoogle-perftools-dev
  procps
)
replicated_packages=(etcd-server etcd-client)     # real nodes under the replicated store
test_packages=(
  libgtest-dev libgmock-dev nlohmann-json3-dev libbenchmark-dev
  clang libclang-rt-dev llvm                      # thread-safety errors, fuzzing, readable sanitizer reports
  python3 python3-grpcio python3-protobuf         # clients made from the .proto alone
  curl ca-certificates openssl
  python3-yaml prometheus iproute2 dnsmasq-base   # manifests; rules, queries and metrics; rollouts in networks of their own
  valgrind                                        # instructions of a call
)
# What the long tier takes besides: the container image is built for real; proxies in front of the server; Go's own
# reader of rich errors.
long_packages=(buildah debootstrap nginx-light haproxy golang-go golang-google-grpc-dev golang-google-genproto-dev)
# Commands that may come from elsewhere than Debian: "command:package".
test_commands=(node:nodejs npm:npm git:git)

case "${1:-}" in
  run) packages=("${run_packages[@]}") commands=() ;;
  replicated) packages=("${run_packages[@]}" "${replicated_packages[@]}") commands=() ;;
  test)
    packages=("${run_packages[@]}" "${replicated_packages[@]}" "${test_packages[@]}")
    commands=("${test_commands[@]}") ;;
  long)
    packages=("${run_packages[@]}" "${replicated_packages[@]}" "${test_packages[@]}" "${long_packages[@]}")
    commands=("${test_commands[@]}") ;;
  *) echo "usage: deploy/install.sh run|replicated|test|long" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
for pair in ${commands[@]+"${commands[@]}"}; do
  command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

echo "install: ${missing[*]}"
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null || { echo "install: not root, and no sudo to become it" >&2; exit 1; }
  as_root=(sudo)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  # RUNLEVEL=1: the services among the packages are not started. Mirrors fail now and then: three tries each. Quiet unless it fails.
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q -y -o Acquire::Retries=3 "$@" \
    </dev/null >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}
# A machine's lists may be absent or stale: they are fetched when the installation fails without.
apt install --no-install-recommends "${missing[@]}" 2>/dev/null ||
  { apt update && apt install --no-install-recommends "${missing[@]}"; }
echo "install: done"

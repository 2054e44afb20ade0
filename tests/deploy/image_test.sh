#!/usr/bin/env bash
# Builds the image for real, twice, and runs it: size, user, entrypoint, no shell, read-only root, health, clean stop, and
# that both builds are the same. The base is made here by debootstrap, so that no registry is needed.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
limit_bytes=$((40 * 1000 * 1000))

skip() {
  echo "skipped: $1"
  exit 77
}
fail() {
  echo "image_test: $1" >&2
  exit 1
}

[[ $(id -u) -eq 0 ]] || skip "only root can make the base image"
for tool in buildah debootstrap unshare chroot; do
  command -v "$tool" >/dev/null || skip "there is no $tool"
done
unshare --mount true 2>/dev/null || skip "this machine allows no mounts"

work=$(mktemp -d)
pid=
image() { buildah --root "$work/storage" --runroot "$work/run" --storage-driver overlay "$@"; }
clean_up() {
  if [[ -n $pid ]]; then kill -9 "$pid" 2>/dev/null || true; fi
  image umount --all >/dev/null 2>&1 || true
  image rm --all >/dev/null 2>&1 || true
  image rmi --all --force >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT

echo "== the base"
apt_target() { apt-get indextargets --format "$1" 'Created-By: Packages' | grep -v security | head -1; }
mirror=$(apt_target '$(REPO_URI)')
debootstrap --variant=minbase bookworm "$work/base" "$mirror" >"$work/base.log" 2>&1 || {
  tail -5 "$work/base.log"
  skip "debootstrap cannot reach the packages"
}
# Whatever this machine needs to reach its packages, the build needs too.
cp -a /etc/apt/apt.conf.d/. "$work/base/etc/apt/apt.conf.d/"
base=$(image from scratch) || skip "buildah has no storage here"
image add --quiet "$base" "$work/base" / >/dev/null
image commit --quiet "$base" docker.io/library/debian:bookworm-slim >/dev/null
image rm "$base" >/dev/null

build() {
  image bud --isolation chroot --pull-never --no-cache --timestamp 0 --tag "$1" -f "$source_dir/deploy/Dockerfile" \
    "$source_dir" >"$work/build.log" 2>&1 || {
    tail -30 "$work/build.log"
    fail "the image does not build"
  }
}
echo "== the image"
build reversi-server:first
container=$(image from --pull-never reversi-server:first)
root=$(image mount "$container")

bytes=$(du -sb "$root" | cut -f1)
echo "size: $bytes bytes"
[[ $bytes -le $limit_bytes ]] || fail "it takes more than $limit_bytes bytes"
[[ -z $(find "$root" -name 'sh' -o -name 'bash' -o -name 'dpkg*' -o -name 'apt*') ]] || fail "there is a shell or a package tool in it"
[[ -z $(find "$root" -perm /6000) ]] || fail "there is a setuid file in it"
config() { image inspect --type image --format "{{$1}}" reversi-server:first; }
[[ $(config .OCIv1.Config.User) == 65532:65532 ]] || fail "the user is $(config .OCIv1.Config.User)"
[[ $(config .OCIv1.Config.Entrypoint) == "[/reversi_server]" ]] || fail "the entrypoint is $(config .OCIv1.Config.Entrypoint)"

echo "== running, on a read-only root"
mkdir "$work/root"
unshare --mount bash -c '
  mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && ! touch "$2/written" 2>/dev/null &&
  exec chroot --userspec=65532:65532 "$2" /reversi_server --listen=127.0.0.1:0 --metrics_listen=127.0.0.1:0 \
    --drain_delay=0s' _ "$root" "$work/root" >"$work/out" 2>"$work/err" </dev/null &
pid=$!
for _ in $(seq 600); do
  grep -q listening "$work/out" && break
  kill -0 "$pid" 2>/dev/null || { cat "$work/err" >&2; fail "it ended instead of serving"; }
  sleep 0.1
done
address=$(grep -o 'grpc=[^ ]*' "$work/out" | cut -d= -f2)
[[ $(awk '/^Uid:/ {print $2}' "/proc/$pid/status") == 65532 ]] || fail "it does not run as its user"
/usr/bin/python3 - "$address" <<'PYTHON' || fail "health is not SERVING"
import sys
import grpc
check = grpc.insecure_channel(sys.argv[1]).unary_unary("/grpc.health.v1.Health/Check")
sys.exit(check(b"", timeout=30, wait_for_ready=True) != b"\x08\x01")
PYTHON
kill -TERM "$pid"
code=0
wait "$pid" || code=$?
pid=
[[ $code -eq 0 ]] || { cat "$work/err" >&2; fail "it stopped with code $code"; }

echo "== a second build"
build reversi-server:second
id() { image inspect --type image --format '{{.FromImageID}}' "$1"; }
[[ $(id reversi-server:first) == "$(id reversi-server:second)" ]] || fail "two builds differ"
echo "passed"

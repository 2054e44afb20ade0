#!/usr/bin/env bash
# tests/stores/over_disk.sh <command…>: runs it so that every server it starts keeps its games in a fresh folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export REVERSI_STORE=disk REVERSI_DATA_DIR=$folder/data REVERSI_TOKEN_KEY=0123456789abcdef0123456789abcdef
"$@"

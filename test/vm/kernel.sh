#!/usr/bin/env bash
# Fetches Debian's cloud kernel (40 MB unpacked) for the tests on emulated
# machines and prints its path. Needs apt and dpkg; nothing is installed.
#   test/vm/kernel.sh [CACHE-DIRECTORY]
set -euo pipefail
cache=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/procfit/vm-kernel}
if ! ls "$cache"/boot/vmlinuz-* >/dev/null 2>&1; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image/ {print $2; exit}')
  [ -n "$package" ] || { echo "kernel.sh: apt knows no linux-image-cloud-amd64: run apt-get update" >&2; exit 1; }
  (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package" >&2 && dpkg-deb -x ./*.deb unpacked)
  mkdir -p "$cache/boot"
  cp "$work"/unpacked/boot/vmlinuz-* "$cache/boot/"
fi
ls "$cache"/boot/vmlinuz-* | head -n 1

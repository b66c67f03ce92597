#!/usr/bin/env bash
# Fetches Debian's cloud kernel (40 MB unpacked) for the tests on emulated
# machines and prints its path; for arm64 its busybox too. Needs apt and dpkg;
# nothing is installed, and no foreign architecture is added to this system.
#   test/vm/kernel.sh [amd64|arm64]
set -euo pipefail
arch=${1:-amd64}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/procfit/vm-kernel
[ "$arch" = amd64 ] || cache=$cache-$arch
if ! ls "$cache"/boot/vmlinuz-* >/dev/null 2>&1; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	options=(-o APT::Sandbox::User=root)
	if [ "$arch" != "$(dpkg --print-architecture)" ]; then
		# Lists of the other architecture, beside the system's own.
		mkdir -p "$work"/state/lists/partial "$work"/cache/archives/partial
		touch "$work"/state/status
		options+=(-o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$work"/state
			-o Dir::State::status="$work"/state/status -o Dir::Cache="$work"/cache)
		apt-get "${options[@]}" update -qq >&2
	fi
	package=$(apt-cache "${options[@]}" depends "linux-image-cloud-$arch" | awk '/Depends: linux-image/ {print $2; exit}')
	[ -n "$package" ] || { echo "kernel.sh: apt knows no linux-image-cloud-$arch: run apt-get update" >&2; exit 1; }
	packages=("$package")
	[ "$arch" = amd64 ] || packages+=(busybox-static)
	(cd "$work" && apt-get "${options[@]}" download -qq "${packages[@]}" >&2 && for deb in ./*.deb; do dpkg-deb -x "$deb" unpacked; done)
	mkdir -p "$cache"
	[ "$arch" = amd64 ] || cp "$work"/unpacked/bin/busybox "$cache/"
	mkdir -p "$cache/boot"
	cp "$work"/unpacked/boot/vmlinuz-* "$cache/boot/"
fi
ls "$cache"/boot/vmlinuz-* | head -n 1

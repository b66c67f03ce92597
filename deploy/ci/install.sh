#!/usr/bin/env bash
# Puts procfit into a folder, for pipelines:
#
#   deploy/ci/install.sh FOLDER [VERSION]
#
# VERSION is the tag of a release, such as v0.1.0. The script downloads its archive and
# compares the checksum. Where gh is installed and has a token (GH_TOKEN), gh verifies that
# the release workflow of procfit built the archive. A file that fails is an error.
# If VERSION is not a release, or nothing is published for this system, the script builds
# procfit from the source that it belongs to, which needs Go. A Go before 1.26 downloads a
# newer one, although actions/setup-go and the images of golang forbid that.
# PROCFIT_RELEASES is the address of a mirror of the releases.
# The image of an application needs only procfit-run, which one line of its Dockerfile adds:
# ADD --chmod=755 https://github.com/procfit/procfit/releases/download/v0.1.0/procfit-run_0.1.0_linux_amd64 /procfit-run
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd) version=${2:-}
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
releases=${PROCFIT_RELEASES:-https://github.com/procfit/procfit/releases/download}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

system=$(uname -s) machine=$(uname -m) form=tar.gz
case $system in
Linux) system=linux ;;
Darwin) system=darwin ;;
MINGW* | MSYS* | CYGWIN*) system=windows form=zip ;;
esac
case $machine in
x86_64) machine=amd64 ;;
aarch64) machine=arm64 ;;
esac
archive=procfit_${version#v}_${system}_$machine.$form

# download reports whether the release has an archive for this system.
download() {
	[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || return 1
	local file
	for file in checksums.txt "$archive"; do
		curl -fsSL --retry 3 --max-time 300 -o "$work/$file" "$releases/$version/$file" || return 1
	done
}

if download; then
	sums=sha256sum
	command -v sha256sum >/dev/null || sums="shasum -a 256" # macOS
	(cd "$work" && grep "^[0-9a-f]*  $archive\$" checksums.txt | $sums -c - >/dev/null) ||
		{ echo "procfit: $archive does not have the checksum of its release; delete it from your mirror and try again" >&2; exit 1; }
	if command -v gh >/dev/null && [ -n "${GH_TOKEN:-}" ]; then
		gh attestation verify "$work/$archive" --repo procfit/procfit --signer-workflow procfit/procfit/.github/workflows/release.yaml >/dev/null ||
			{ echo "procfit: the release workflow of procfit did not build $archive; do not use it" >&2; exit 1; }
		echo "procfit $version: checksum and attestation are correct"
	else
		echo "procfit $version: the checksum is correct; the attestation was not verified, which needs gh and GH_TOKEN"
	fi
	if [ $form = zip ]; then unzip -qo "$work/$archive" procfit.exe -d "$folder"; else tar -xzf "$work/$archive" -C "$folder" procfit; fi
else
	command -v go >/dev/null || { echo "procfit: ${version:-no version} is not published for $system/$machine, and there is no Go to build it: install Go, for example with actions/setup-go" >&2; exit 2; }
	echo "procfit: ${version:-no version} is not published for $system/$machine; building it from source"
	GOTOOLCHAIN=auto GOWORK=off GOFLAGS="" CGO_ENABLED=0 go -C "$source" build -o "$folder/" ./cmd/procfit
fi

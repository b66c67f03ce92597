#!/bin/sh
# Of the deb and the rpm: a removal stops the exporter, an upgrade does not.
set -e
[ -d /run/systemd/system ] || exit 0
case "$1" in
remove | 0) systemctl disable --now procfit-exporter.service ;;
esac

#!/bin/sh
# Installs Switchboard on Debian 12, Ubuntu 22.04 or later: the program, a user of its own, the systemd unit, the documentation.
# Run it as root in the folder with the executable `switchboard` and these files. Run again, it upgrades: settings and data
# stay, and a backup is made before the new program opens the data. `install.sh --dry-run` only prints what it would do;
# `install.sh --no-start` leaves the service stopped, for a node of a cluster, which needs settings first. DESTDIR installs
# below another root and starts nothing.
set -eu

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
dry=
start=1
for argument in "$@"; do
  case $argument in
    --dry-run) dry=1 ;;
    --no-start) start= ;;
    --help|-h) sed -n '2,7s/^# //p' "$0"; exit 0 ;;
    *) fail "there is no option $argument" ;;
  esac
done
run() { if [ -n "$dry" ]; then say "would: $*"; else "$@"; fi; }

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=${DESTDIR:-}
live=1
if [ -n "$root" ]; then live=; fi
bin=$root/usr/local/bin/switchboard
unit=$root/etc/systemd/system/switchboard.service
settings=$root/etc/switchboard/environment
doc=$root/usr/share/doc/switchboard
data=$root/var/lib/switchboard

[ -x "$here/switchboard" ] || fail "there is no executable $here/switchboard"
for file in switchboard.service OPERATING.md grafana.json nats.conf nats.service; do [ -f "$here/$file" ] || fail "$here/$file is missing"; done
if [ -n "$live" ] && [ -z "$dry" ]; then
  [ "$(id -u)" = 0 ] || fail 'run it as root'
  command -v systemctl > /dev/null || fail 'systemd is not here; see OPERATING.md for what to run'
fi
# The program reports it if the machine is too old.
"$here/switchboard" version > /dev/null || fail "$here/switchboard does not run on this machine; it needs glibc 2.34 or later"

if [ -n "$live" ] && ! getent passwd switchboard > /dev/null; then
  run adduser --system --group --home "$data" --no-create-home --disabled-login switchboard
fi

was_running=
if [ -n "$live" ] && command -v systemctl > /dev/null && systemctl is-active --quiet switchboard 2> /dev/null; then was_running=1; fi
if [ -n "$was_running" ]; then
  # What it is, whatever its settings say by now: a node has this folder in its own.
  if [ -d "$data/cluster" ]; then
    say 'this is a node of a cluster, whose data is in NATS: no backup is made here; switchboard backup makes one'
  else
    # By the program that wrote the data, as the user that owns it.
    copy=$root/var/backups/switchboard-$(date -u +%Y%m%dT%H%M%SZ)
    say "backing up to $copy"
    run install -d -m 0700 -o switchboard -g switchboard "$copy.dir"
    run runuser -u switchboard -- env DATA_DIR="$data" SWITCHBOARD_CACHE_DIR="$root/var/cache/switchboard" "$bin" backup "$copy.dir/data"
  fi
  run systemctl stop switchboard
fi

# Earlier units listened on 127.0.0.1 only. An installation behind a proxy keeps that.
if [ -f "$unit" ] && [ -f "$settings" ] && ! grep -q '^Environment=HOST=' "$unit" && ! grep -q '^[[:space:]]*HOST=' "$settings"; then
  if [ -n "$dry" ]; then say "would: add HOST=127.0.0.1 to $settings"; else printf '\nHOST=127.0.0.1\n' >> "$settings"; fi
fi

run install -D -m 0755 "$here/switchboard" "$bin.new"
run mv -f "$bin.new" "$bin"
run install -D -m 0644 "$here/switchboard.service" "$unit"
for file in OPERATING.md grafana.json nats.conf nats.service; do run install -D -m 0644 "$here/$file" "$doc/$file"; done
if [ -d "$here/docs" ]; then
  run rm -rf "$doc/docs"
  run cp -R "$here/docs" "$doc/docs"
  run chmod -R u=rwX,go=rX "$doc/docs"
fi
if [ ! -e "$settings" ]; then
  run install -d -m 0755 "$(dirname "$settings")"
  if [ -n "$dry" ]; then say "would: write $settings"; else
    umask 077
    cat > "$settings" <<'SETTINGS'
# Settings of Switchboard, one NAME=value a line. `switchboard config check` prints the result.
# Where customers and agents reach it:
#BASE_URL=https://help.example.com
# TLS by Switchboard itself:
#PORT=443
#TLS_CERT_FILE=/etc/switchboard/fullchain.pem
#TLS_KEY_FILE=/etc/switchboard/key.pem
# Or behind nginx or Caddy:
#HOST=127.0.0.1
#TRUST_PROXY=1
# New workspaces need an invitation (switchboard invite), or are not possible (off):
#REGISTRATION=invite
SETTINGS
  fi
fi

if [ -n "$live" ]; then
  run systemctl daemon-reload
  if [ -z "$start" ]; then
    if [ -n "$dry" ]; then say 'would: leave Switchboard stopped. Nothing was changed.'; exit 0; fi
    say 'Switchboard is installed and does not run. Write its settings to /etc/switchboard/environment, then: systemctl enable --now switchboard'
    exit 0
  fi
  run systemctl enable switchboard
  run systemctl start switchboard
  if [ -n "$dry" ]; then say 'would: run Switchboard. Nothing was changed.'; exit 0; fi
  say 'Switchboard runs. Its settings are in /etc/switchboard/environment; journalctl -u switchboard shows its log.'
else
  say "Switchboard is below $root"
fi

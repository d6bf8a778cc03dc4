#!/bin/sh
# Installs or upgrades askback on Linux with systemd, or only the executable on other systems. Run it as root:
#
#   sh install.sh                        # from the folder of this script, or from where it was published
#   sh install.sh --from URL_OR_FOLDER   # from a mirror: a folder with the files of a release
#   sh install.sh --start                # also enable and start the service
#   sh install.sh --uninstall            # keeps settings, data, backups and the account
#
# --root DIR installs into the file system in DIR, without account and without systemctl. Repeating an installation is
# safe: settings stay, and a running service keeps running until you restart it.
set -eu

published='@DOWNLOAD_URL@'
bin=/usr/local/bin/askback
share=/usr/local/share/askback
units=/etc/systemd/system
from='' root='' start=no action=install

say() { printf '%s\n' "$*"; }
fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

main() {
  read_options "$@"
  [ -n "$root" ] || [ "$(id -u)" = 0 ] || fail 'run it as root, or use --root DIR'
  if [ -z "$root" ] && has dpkg && dpkg -s askback >/dev/null 2>&1; then
    fail 'the Debian package askback is installed: use apt-get to upgrade or remove it'
  fi
  if [ "$action" = uninstall ]; then
    uninstall
    exit 0
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  [ -n "$from" ] || from=$(find_source)
  download
  install_executable
  if [ "$(uname -s)" = Linux ]; then install_service; fi
  report
}

read_options() {
  while [ $# -gt 0 ]; do
    case $1 in
      --from) from=${2:?--from needs a URL or a folder} && shift ;;
      --root) root=${2:?--root needs a folder} && shift ;;
      --start) start=yes ;;
      --uninstall) action=uninstall ;;
      -h | --help)
        sed -n '2,/^set -eu/{/^set -eu/d;s/^#\{1,\} \{0,1\}//;p;}' "$0"
        exit 0
        ;;
      *) fail "unknown option $1: see --help" ;;
    esac
    shift
  done
}

find_source() {
  folder=$(dirname "$0")
  if [ -e "$folder/SHA256SUMS" ]; then
    say "$folder"
  else
    case $published in
      http*) say "$published" ;;
      *) fail 'use --from with the URL or the folder of a release' ;;
    esac
  fi
}

# FILE: copies it from the release into the work folder.
get() {
  case $from in
    http://* | https://*)
      if has curl; then
        curl -fsSL --retry 3 -o "$work/$1" "$from/$1" || fail "cannot download $from/$1"
      elif has wget; then
        wget -q -O "$work/$1" "$from/$1" || fail "cannot download $from/$1"
      else
        fail 'downloading needs curl or wget'
      fi
      ;;
    *) cp "${from#file://}/$1" "$work/$1" || fail "there is no $1 in $from" ;;
  esac
}

# Names of files begin with the version, so the checksums also say which version this is.
download() {
  get SHA256SUMS
  system=$(uname -s | tr '[:upper:]' '[:lower:]')
  case $(uname -m) in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no askback for $(uname -m)" ;;
  esac
  line=$(grep -E "  askback-[0-9][^ ]*-$system-$machine\$" "$work/SHA256SUMS") ||
    fail "this release has no askback for $system on $machine"
  file=${line#*  }
  say "$file from $from"
  get "$file"
  if has sha256sum; then
    sum=$(sha256sum "$work/$file")
  else
    sum=$(shasum -a 256 "$work/$file")
  fi
  [ "${sum%% *}" = "${line%% *}" ] || fail "$file does not have the checksum of SHA256SUMS: nothing was installed"
  chmod 755 "$work/$file"
  version=$("$work/$file" --version 2>"$work/error") || explain_start
  version=${version#askback }
}

explain_start() {
  cat "$work/error" >&2
  if grep -q libatomic "$work/error"; then
    fail 'install libatomic first: apt-get install libatomic1, or dnf install libatomic'
  fi
  fail 'the executable does not start here. It needs glibc 2.28 or newer (not musl), libstdc++ and libatomic'
}

# A rename, so that a running askback keeps its file.
install_executable() {
  mkdir -p "$root$(dirname $bin)"
  cp "$work/$file" "$root$bin.new"
  chmod 755 "$root$bin.new"
  mv -f "$root$bin.new" "$root$bin"
  if has restorecon; then restorecon "$root$bin" 2>/dev/null || :; fi
  "$root$bin" files --force "$root$share" >/dev/null
}

install_service() {
  if [ -z "$root" ] && ! getent passwd askback >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/askback \
      --shell /usr/sbin/nologin askback
  fi
  mkdir -p "$root/etc/askback" "$root$units"
  if [ ! -e "$root/etc/askback/askback.env" ]; then
    cp "$root$share/systemd/askback.env" "$root/etc/askback/askback.env"
    chmod 640 "$root/etc/askback/askback.env"
    [ -n "$root" ] || chgrp askback /etc/askback/askback.env
  fi
  for unit in askback.service askback.socket askback-backup.service askback-backup.timer; do
    sed "s#/usr/bin/askback#$bin#; s#/usr/share/doc/askback#$share#" \
      "$root$share/systemd/$unit" >"$root$units/$unit"
    chmod 644 "$root$units/$unit"
  done
  if runs_systemd; then
    systemctl daemon-reload
    [ "$start" = no ] || systemctl enable --now askback.socket askback.service
  fi
}

runs_systemd() { [ -z "$root" ] && [ -d /run/systemd/system ]; }

report() {
  if runs_systemd && [ "$start" = no ] && systemctl is-active --quiet askback.service; then
    say "askback $version is installed. The old version runs until you restart it. Make a backup first:"
    say '  systemctl start askback-backup.service && systemctl restart askback'
  elif [ "$start" = yes ] && runs_systemd; then
    say "askback $version is running. The first start prints a link to create your account:"
    say '  journalctl -u askback -o cat | grep "create the first one"'
  elif [ "$(uname -s)" = Linux ]; then
    say "askback $version is installed but not started. Edit /etc/askback/askback.env, then run:"
    say '  systemctl enable --now askback.socket askback.service askback-backup.timer'
  else
    say "askback $version is installed: run askback"
  fi
}

uninstall() {
  if runs_systemd; then
    systemctl disable --now askback.socket askback.service askback-backup.timer 2>/dev/null || :
  fi
  rm -f "$root$bin"
  for unit in askback.service askback.socket askback-backup.service askback-backup.timer; do
    rm -f "$root$units/$unit"
  done
  rm -rf "$root$share"
  if runs_systemd; then systemctl daemon-reload; fi
  say 'askback is removed. These stay: /etc/askback, /var/lib/askback, /var/lib/askback-backups and the account askback.'
}

main "$@"

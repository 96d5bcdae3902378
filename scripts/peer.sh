#!/bin/sh
# Runs bin/peer.js with a Node that is new enough, wherever one is installed: shells started by tmux,
# hooks and desktop launchers often have none on PATH.
set -u

WANTED=20019 # 20.19, as version_of writes it

# 20.19.4 becomes 20019; nothing is printed for what is no Node.
version_of() {
  version=$("$1" --version 2>/dev/null) || return 0
  case $version in v[0-9]*.[0-9]*.*) ;; *) return 0 ;; esac
  version=${version#v}
  minor=${version#*.}
  echo $((${version%%.*} * 1000 + ${minor%%.*}))
}

# Keeps the newest program seen so far in $best.
consider() {
  [ -f "$1" ] && [ -x "$1" ] || return 0
  number=$(version_of "$1")
  if [ "${number:-0}" -gt "$best_number" ]; then
    best=$1
    best_number=$number
  fi
}

# The first Node on PATH that will do; an old one further up does not hide it.
search_path() {
  rest=${PATH:-}:
  while [ -n "$rest" ] && [ "$best_number" -lt "$WANTED" ]; do
    consider "${rest%%:*}/node"
    rest=${rest#*:}
  done
}

search_common_places() {
  home=${HOME:-/nonexistent}
  for node in \
    /usr/local/bin/node /opt/homebrew/bin/node /usr/bin/node \
    "${NVM_DIR:-$home/.nvm}"/versions/node/*/bin/node \
    "${VOLTA_HOME:-$home/.volta}"/tools/image/node/*/bin/node \
    "${FNM_DIR:-${XDG_DATA_HOME:-$home/.local/share}/fnm}"/node-versions/*/installation/bin/node \
    "$home/.fnm"/node-versions/*/installation/bin/node \
    "$home/Library/Application Support"/fnm/node-versions/*/installation/bin/node \
    "${ASDF_DATA_DIR:-$home/.asdf}"/installs/nodejs/*/bin/node \
    "${MISE_DATA_DIR:-${XDG_DATA_HOME:-$home/.local/share}/mise}"/installs/node/*/bin/node; do
    consider "$node"
  done
}

# This file's own folder, behind any symlinks; readlink -f is missing on older macOS.
own_folder() {
  file=$0
  while [ -L "$file" ]; do
    target=$(readlink "$file")
    case $target in
      /*) file=$target ;;
      *) file=$(dirname "$file")/$target ;;
    esac
  done
  cd "$(dirname "$file")" && pwd -P
}

best=
best_number=0
search_path
[ "$best_number" -ge "$WANTED" ] || search_common_places

if [ "$best_number" -lt "$WANTED" ]; then
  if [ -n "$best" ]; then
    echo "peer needs Node 20.19 or later; the newest found is $("$best" --version) ($best)." >&2
  else
    echo "peer needs Node 20.19 or later; none was found on PATH or where nvm, volta, fnm, asdf, mise and Homebrew put it." >&2
  fi
  exit 127
fi

folder=$(own_folder)
exec "$best" "$folder/../bin/peer.js" "$@"

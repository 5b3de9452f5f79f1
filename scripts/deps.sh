#!/usr/bin/env bash
# Installs the Debian packages replisim is built from, but only those that are missing.
#
# Usage: scripts/deps.sh [--tests | --pages | --bench] [EXTRA_PACKAGE...]
# --tests: also what `make test` and `make live` need; --pages: only a browser and Node.js of that, for `make pages`;
# --bench: what `make bench` needs.
# REPLISIM_SKIP_DEPS=1 skips everything, for systems that get the same libraries another way.
set -euo pipefail

packages=(
  g++ cmake ninja-build make pkg-config ccache git
  libsimgrid-dev libboost-dev libeigen3-dev libyaml-cpp-dev libfmt-dev
  nlohmann-json3-dev libcli11-dev libsqlite3-dev zlib1g-dev libzstd-dev libcpp-httplib-dev libpq-dev catch2
)
for_tests=0 for_pages=0
if [[ ${1:-} == --bench ]]; then
  packages+=(libbenchmark-dev valgrind python3)
  shift
fi
while [[ ${1:-} == --tests || ${1:-} == --pages ]]; do
  [[ $1 == --pages ]] || for_tests=1
  for_pages=1 # every test includes those of the pages
  shift
done
if ((for_tests)); then
  packages+=(
    python3-jsonschema python3-yaml python3-pandas python3-matplotlib python3-ipykernel jupyter-nbconvert
    postgresql-client-15 postgresql-15
  )
fi
if ((for_pages)); then
  packages+=(chromium)
  # Other sources of Node.js bring npm with them and leave no room for Debian's package of that name.
  command -v node >/dev/null || packages+=(nodejs)
  command -v npm >/dev/null || packages+=(npm)
fi
packages+=("$@")
lists_dir=/var/lib/apt/lists
lists_max_age_days=7

say() { printf 'deps: %s\n' "$*"; }
fail() {
  printf 'deps: %s\n' "$*" >&2
  exit 1
}

if [[ ${REPLISIM_SKIP_DEPS:-0} == 1 ]]; then
  say "skipped, as REPLISIM_SKIP_DEPS=1 asks"
  exit 0
fi
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  fail "this is no Debian-like system; install the equivalents of: ${packages[*]}" \
    "and set REPLISIM_SKIP_DEPS=1"
fi

# One query for all: a package that dpkg has never heard of prints nothing.
installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  say "all ${#packages[@]} packages are installed"
  exit 0
fi
say "missing: ${missing[*]}"

as_root=()
if [[ $(id -u) != 0 ]]; then
  command -v sudo >/dev/null ||
    fail "installing needs root and there is no sudo; run as root: apt-get install ${missing[*]}"
  # Without a terminal nobody could type a password: fail with a sentence instead of hanging.
  if [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; then
    fail "sudo wants a password and there is no terminal; run as root: apt-get install ${missing[*]}"
  fi
  say "installing with sudo"
  as_root=(sudo)
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 -q "$@"
}
install_missing() { apt install -y --no-install-recommends "${missing[@]}"; }

fresh=$(find "$lists_dir" -maxdepth 1 -name '*Packages*' -mtime "-$lists_max_age_days" -print -quit \
  2>/dev/null || true)
updated=0
if [[ -z $fresh ]]; then
  say "package lists are missing or older than $lists_max_age_days days: apt-get update"
  apt update || say "apt-get update failed; trying with the lists there are"
  updated=1
fi
say "apt-get install ${missing[*]}"
if ! install_missing; then
  ((updated == 0)) || fail "apt-get could not install: ${missing[*]}"
  say "apt-get install failed, perhaps because of old lists: apt-get update and once more"
  apt update || true
  install_missing || fail "apt-get could not install: ${missing[*]}"
fi
say "done"

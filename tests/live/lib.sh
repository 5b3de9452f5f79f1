# What the live tests share. Sourced with $replisim, $servers and $work set.
# shellcheck shell=bash

failed=0
complain() {
  printf 'FAILED: %s\n' "$*" >&2
  failed=1
}

# expect_error NAME 'PART OF THE SENTENCE' COMMAND...: exit code 2, and one line that says so.
expect_error() {
  local name=$1 part=$2 code=0 text
  shift 2
  text=$(timeout 100 "$@" 2>&1 >/dev/null) || code=$?
  text=$(grep -v -E '^(PostgreSQL |round |an earlier run)' <<<"$text" || true)
  [[ $code == 2 ]] || complain "$name: exit code $code: $text"
  [[ $text == *"$part"* ]] || complain "$name: expected '$part' in: $text"
  [[ $(wc -l <<<"$text") == 1 ]] || complain "$name: more than one line: $text"
  [[ $text == *";"* || $text == *":"* ]] || complain "$name: no next step: $text"
  printf 'ok: %s: %s\n' "$name" "$text"
}

# A folder that other users can reach, gone at the end.
scratch() {
  local folder
  folder=$(mktemp -d "${TMPDIR:-/tmp}/replisim-live-XXXXXX")
  chmod 711 "$folder"
  printf '%s\n' "$folder"
}

# Servers whose data lies below a folder.
servers_below() {
  local pid
  for pid in /proc/[0-9]*; do
    { tr '\0' ' ' <"$pid/cmdline"; } 2>/dev/null | grep -F -e "-D $1/" | sed "s|^|${pid#/proc/} |" || true
  done
}

# As the user that servers run as: PostgreSQL refuses root.
unprivileged() {
  if [[ $(id -u) == 0 ]]; then
    setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
  else
    "$@"
  fi
}

# A port nobody listens on now, the next one neither.
free_port() {
  python3 - <<'P'
import socket
while True:
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
        try:
            two.bind(("127.0.0.1", port + 1))
        except OSError:
            continue
    print(port)
    break
P
}

# Servers of $major for a test that runs beside a lab, in the folder $work; all of it is gone at the end.
beside_a_lab() {
  "$here/servers.sh" "$servers" "$major"
  work=$(scratch)
  trap 'kill -INT ${lab:-} 2>/dev/null || true; wait || true; rm -rf "$work"' EXIT
}

# begin_lab PLAN: in the background, as $lab, on 127.0.0.1 at a free port and the next; then "${collect[@]}" is
# replisim collect of its two servers, with a password that nobody asks for.
begin_lab() {
  local port
  port=$(free_port)
  env --default-signal=INT "$replisim" lab --plan "$here/$1" --no-fit --port "$port" \
    --bin "$servers/node_modules/postgres-$major" --work "$work" --out "$work/lab" >"$work/lab.txt" 2>&1 &
  lab=$!
  node() { echo "host=127.0.0.1 port=$1 dbname=postgres user=postgres password=secret-word"; }
  collect=("$replisim" collect --publisher "$(node "$port")" --subscriber "$(node $((port + 1)))" --interval 500ms)
}

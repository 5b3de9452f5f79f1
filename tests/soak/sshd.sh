#!/usr/bin/env bash
# Starts an ssh server for this user alone (own port, keys and configuration in a folder), runs a command that
# finds it through $SOAK_SSH, and ends it again. Needs openssh-server; as root it needs nothing else.
#
# Usage: tests/soak/sshd.sh FOLDER COMMAND...
set -euo pipefail
folder=$(realpath "${1:?which folder}")
shift
port=26822
mkdir -p "$folder" /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$folder/host_key" </dev/null
ssh-keygen -q -t ed25519 -N '' -f "$folder/user_key" </dev/null
cp "$folder/user_key.pub" "$folder/authorized_keys"
chmod 600 "$folder/authorized_keys"
cat >"$folder/sshd_config" <<CONF
Port $port
ListenAddress 127.0.0.1
HostKey $folder/host_key
AuthorizedKeysFile $folder/authorized_keys
PidFile $folder/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
MaxStartups 50
CONF
/usr/sbin/sshd -D -f "$folder/sshd_config" -E "$folder/sshd.log" &
pid=$!
trap 'kill $pid 2>/dev/null || true; wait $pid 2>/dev/null || true' EXIT
export SOAK_SSH="ssh -q -p $port -i $folder/user_key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
for _ in $(seq 50); do
  $SOAK_SSH 127.0.0.1 true 2>/dev/null && break
  sleep 0.1
done
"$@"

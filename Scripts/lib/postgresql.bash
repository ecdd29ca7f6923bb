#!/usr/bin/env bash
# A PostgreSQL server for tests: a separate cluster in a temporary directory, run by an unprivileged user, on a socket
# and a TCP port of 127.0.0.1. To be sourced by bash, or run:
#
#   postgresql.bash start DIRECTORY [PID]   creates and starts it, and prints "DIRECTORY PORT"; with a process ID it ends
#                                           with that process
#   postgresql.bash restart DIRECTORY       stops it immediately, like a crash, and starts it again
#   postgresql.bash pool DIRECTORY PORT     starts PgBouncer in transaction mode before it, and prints the pooler's port
#   postgresql.bash replica DIRECTORY PORT OTHER [PID]   creates a streaming replica of it in another directory, and prints
#                                           "OTHER PORT"
#   postgresql.bash secure DIRECTORY PORT NAME   makes it accept TLS with a certificate for a host name, and ask the role
#                                           'guarded' for a password; prints the path of the authority's certificate
#   postgresql.bash halt DIRECTORY          stops it immediately, like a crash, and keeps its files
#   postgresql.bash stop DIRECTORY          stops it and removes the directory
#   postgresql.bash programs                prints the directory of the server's programs
#   postgresql.bash need                    installs Debian's package if there is no server

# Prints a port below those that the system gives to clients: while a server restarts, a client's connection may not take
# its port.
any_port() { printf '%s\n' $((20000 + RANDOM % 12000)); }

# Prints the directory of the server's programs; fails if there is none.
postgresql_programs() {
  local found
  found=$(command -v initdb 2>/dev/null) && { dirname "$(readlink -f "$found")"; return; }
  found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
  [ -n "$found" ] && [ -x "$found/initdb" ] && printf '%s\n' "$found"
}

# Installs a package, not beside another script that does: apt does not wait for another one. Debian's packages of servers start
# a service unless a policy forbids it.
install_alone() {
  (
    flock 9
    export DEBIAN_FRONTEND=noninteractive
    policy=/usr/sbin/policy-rc.d
    [ -e "$policy" ] || {
      printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy"
      trap 'rm -f "$policy"' EXIT
    }
    apt-get install -y -q --no-install-recommends "$1" 9>&- || {
      apt-get update -q && apt-get install -y -q --no-install-recommends "$1" 9>&-
    }
  ) 9>"${TMPDIR:-/tmp}/coredata-install-$(id -u)" >&2
}

need_postgresql() {
  postgresql_programs >/dev/null && return
  printf 'installing postgresql\n' >&2
  install_alone postgresql
}

need_pgbouncer() {
  [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null && return
  printf 'installing pgbouncer\n' >&2
  install_alone pgbouncer
}

# Waits until a pooler responds. Fails if its process has exited, or after a minute.
answers_pooler() {
  local directory=$1 port=$2 programs
  programs=$(postgresql_programs) || return
  for _ in {1..600}; do
    "$programs/psql" -qAt -h "$directory" -p "$port" -U coredata postgres -c 'SELECT 1' >/dev/null 2>&1 </dev/null && return
    [ ! -s "$directory/pgbouncer.pid" ] || kill -0 "$(cat "$directory/pgbouncer.pid")" 2>/dev/null || return
    sleep 0.1
  done
  return 1
}

# Starts a pooler that assigns each transaction any of its connections to the server. It ends with the server.
start_pooler() {
  local directory=$1 server=$2 port
  for _ in 1 2 3 4 5; do
    port=$(any_port)
    cat >"$directory/pgbouncer.ini" <<END
[databases]
* = host=$directory port=$server user=coredata
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir = $directory
auth_type = any
pool_mode = transaction
default_pool_size = 60
max_client_conn = 2000
logfile = $directory/pgbouncer.log
pidfile = $directory/pgbouncer.pid
END
    rm -f "$directory/pgbouncer.pid"
    (close_inherited; as_server_user env PATH="$PATH:/usr/sbin" pgbouncer -q -d "$directory/pgbouncer.ini") \
      >/dev/null 2>&1 || continue
    # PgBouncer goes into the background before it listens, or finds that the port is taken.
    answers_pooler "$directory" "$port" || continue
    printf '%s\n' "$port"
    return
  done
  printf 'error: the pooler does not start; see %s\n' "$directory/pgbouncer.log" >&2
  return 1
}

# Runs a command as a user that may run a server: root may not.
as_server_user() {
  if [ "$(id -u)" != 0 ]; then "$@"; else
    local user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env HOME=/tmp "$@"
  fi
}

# Closes the descriptors inherited from the caller, so that no server keeps them open: a program that starts this script
# may wait for them to be closed.
close_inherited() {
  local path number
  for path in /proc/self/fd/*; do
    number=${path##*/}
    [ "$number" -le 2 ] || [ "$number" = 255 ] || eval "exec $number>&-" 2>/dev/null
  done
}

# Stops a server once a process has exited.
end_with() {
  (
    exec >/dev/null 2>&1 </dev/null
    close_inherited
    while kill -0 "$1"; do sleep 1; done
    stop_postgresql "$2"
  ) &
  disown
}

start_postgresql() {
  local directory=$1 owner=${2:-} programs user port
  programs=$(postgresql_programs) || { printf 'error: there is no PostgreSQL server here\n' >&2; return 1; }
  mkdir -p "$directory"
  if [ "$(id -u)" = 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$directory"
  fi
  chmod 711 "$directory"
  as_server_user "$programs/initdb" -D "$directory/data" -U coredata --auth=trust --encoding=UTF8 --locale=C.UTF-8 \
    --no-instructions >"$directory.log" 2>&1 || { cat "$directory.log" >&2; return 1; }
  # A port that is free now may be taken before the server starts: retry with another one.
  for _ in 1 2 3 4 5; do
    port=$(any_port)
    if (close_inherited; as_server_user "$programs/pg_ctl" -D "$directory/data" -w -s -l "$directory/data/server.log" \
      -o "-c listen_addresses=127.0.0.1 -c port=$port -c unix_socket_directories='$directory' -c fsync=off \
          -c full_page_writes=off -c max_connections=100 -c shared_buffers=64MB" \
      start >/dev/null 2>&1); then
      [ -z "$owner" ] || end_with "$owner" "$directory"
      printf '%s %s\n' "$directory" "$port"
      return
    fi
  done
  printf 'error: the server does not start; see %s\n' "$directory/data/server.log" >&2
  return 1
}

restart_postgresql() {
  local directory=$1 programs
  programs=$(postgresql_programs) || return
  (close_inherited; as_server_user "$programs/pg_ctl" -D "$directory/data" -w -s -t 300 -m immediate \
    -l "$directory/data/server.log" restart >"$directory/restart.log" 2>&1 </dev/null) && return
  # The directory goes with the test.
  printf 'error: the server does not restart\n' >&2
  tail -n 20 "$directory/restart.log" "$directory/data/server.log" >&2
  return 1
}

stop_postgresql() {
  local directory=$1 programs
  programs=$(postgresql_programs) || return 0
  [ -d "$directory/data" ] || return 0
  # The program that started it may have made it ignore gentler signals.
  [ ! -s "$directory/pgbouncer.pid" ] || kill -9 "$(cat "$directory/pgbouncer.pid")" 2>/dev/null || true
  as_server_user "$programs/pg_ctl" -D "$directory/data" -s -m immediate stop >/dev/null 2>&1
  rm -rf "$directory" "$directory.log"
}

# Creates a streaming replica of a server, for which the server waits with each commit. Prints "DIRECTORY PORT".
start_replica() {
  local primary=$1 port=$2 directory=$3 owner=${4:-} programs user replica_port
  programs=$(postgresql_programs) || return
  mkdir -p "$directory"
  if [ "$(id -u)" = 0 ]; then
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$directory"
  fi
  chmod 711 "$directory"
  as_server_user "$programs/pg_basebackup" -D "$directory/data" -h "$primary" -p "$port" -U coredata -R -X stream -c fast \
    >"$directory.log" 2>&1 || { cat "$directory.log" >&2; return 1; }
  for _ in 1 2 3 4 5; do
    replica_port=$(any_port)
    if (close_inherited; as_server_user "$programs/pg_ctl" -D "$directory/data" -w -s -l "$directory/data/server.log" \
      -o "-c listen_addresses=127.0.0.1 -c port=$replica_port -c unix_socket_directories='$directory' -c fsync=off \
          -c full_page_writes=off -c max_connections=100 -c shared_buffers=64MB -c hot_standby=on" \
      start >/dev/null 2>&1); then
      as_server_user "$programs/psql" -q -h "$primary" -p "$port" -U coredata postgres \
        -c "ALTER SYSTEM SET synchronous_standby_names = '*'" -c "SELECT pg_reload_conf()" >/dev/null
      [ -z "$owner" ] || end_with "$owner" "$directory"
      printf '%s %s\n' "$directory" "$replica_port"
      return
    fi
  done
  printf 'error: the replica does not start; see %s\n' "$directory/data/server.log" >&2
  return 1
}

# Makes a server accept TLS over TCP, with a certificate signed by an authority created here.
secure_postgresql() {
  local directory=$1 port=$2 name=$3 user
  user=$(stat -c %U "$directory")
  (
    cd "$directory"
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=Authority of tests" -keyout authority.key -out authority.crt
    openssl req -newkey rsa:2048 -nodes -subj "/CN=$name" -keyout data/server.key -out server.csr
    openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 \
      -extfile <(printf 'subjectAltName=DNS:%s\n' "$name") -out data/server.crt
    chmod 600 data/server.key
    [ "$(id -u)" != 0 ] || chown "$user" data/server.key data/server.crt
    {
      printf '%s\n' 'hostssl all guarded all scram-sha-256' 'host all guarded all reject' 'local all guarded reject'
      cat data/pg_hba.conf
    } >data/pg_hba.new
    cat data/pg_hba.new >data/pg_hba.conf
  ) >"$directory/secure.log" 2>&1 || { cat "$directory/secure.log" >&2; return 1; }
  psql -q -h "$directory" -p "$port" -U coredata postgres -c "ALTER SYSTEM SET ssl = on" -c "SELECT pg_reload_conf()" >/dev/null
  printf '%s\n' "$directory/authority.crt"
}

# Stops a server immediately, like a crash, and keeps its files.
kill_postgresql() {
  local directory=$1 programs
  programs=$(postgresql_programs) || return
  as_server_user "$programs/pg_ctl" -D "$directory/data" -s -m immediate stop >/dev/null 2>&1
}

# Promotes a replica to a primary that waits for no replica.
promote_postgresql() {
  local directory=$1 programs
  programs=$(postgresql_programs) || return
  as_server_user "$programs/pg_ctl" -D "$directory/data" -s -w promote >/dev/null 2>&1
  as_server_user "$programs/psql" -q -h "$directory" -p "$(sed -n 4p "$directory/data/postmaster.pid")" -U coredata postgres \
    -c "ALTER SYSTEM SET synchronous_standby_names = ''" -c "SELECT pg_reload_conf()" >/dev/null
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  case "${1:-}" in
    start) start_postgresql "$2" "${3:-}" ;;
    restart) restart_postgresql "$2" ;;
    pool) start_pooler "$2" "$3" ;;
    replica) start_replica "$2" "$3" "$4" "${5:-}" ;;
    secure) secure_postgresql "$2" "$3" "$4" ;;
    halt) kill_postgresql "$2" ;;
    stop) stop_postgresql "$2" ;;
    programs) postgresql_programs ;;
    need) need_postgresql ;;
    *) printf 'usage: postgresql.bash start DIRECTORY [PID] | restart DIRECTORY | pool DIRECTORY PORT | replica DIRECTORY PORT OTHER [PID] |\n  secure DIRECTORY PORT NAME | halt DIRECTORY | stop DIRECTORY | programs | need\n' >&2; exit 2 ;;
  esac
fi

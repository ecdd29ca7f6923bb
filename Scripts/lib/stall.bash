# Ends tests that hang, and names them. To be sourced by bash, after setup.bash.

# end_stalled LOG SECONDS: ends the test process of this package once the log has not grown for so long, after printing what the
# process's threads do. Without a test process something else keeps 'swift test' waiting, and that is ended. Ends with the script.
end_stalled() {
  local log=$1 limit=$2 size last=-1 since=$SECONDS
  while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    size=$(wc -c <"$log")
    [ "$size" -eq "$last" ] || { last=$size since=$SECONDS; }
    [ $((SECONDS - since)) -ge "$limit" ] || continue
    since=$SECONDS
    say "The tests have said nothing for $limit s."
    print_transactions
    end_programs "$root/.build/*.xctest" threads || {
      say "There is no test process any more, but:"
      ps -eo pid,ppid,etimes,args | cut -c 1-150 | tail -n 60 >&2 || true
      end_programs "*/swift-test" || true
    }
  done
}

# Prints the transactions that are open on the servers of the tests, the oldest first: what one waits for may be in another.
print_transactions() {
  local socket
  command -v psql >/dev/null || return 0
  for socket in /dev/shm/coredata-postgresql-*/.s.PGSQL.* /tmp/coredata-postgresql-*/.s.PGSQL.*; do
    [ -S "$socket" ] || continue
    say "The transactions of the server in ${socket%/*}:"
    PGCONNECT_TIMEOUT=5 timeout 20 psql -qAt -h "${socket%/*}" -p "${socket##*.}" -U coredata postgres -c "
      SELECT datname, pid, state, wait_event_type, wait_event, now() - xact_start, backend_xmin, left(query, 150)
      FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() ORDER BY xact_start" >&2 </dev/null || true
  done
}

# end_programs PATTERN [threads]: ends this package's test programs that match, on request after printing what their threads do.
# Fails if there is none.
end_programs() {
  local directory found=1
  local -a words
  for directory in /proc/[0-9]*; do
    mapfile -d '' -t words 2>/dev/null <"$directory/cmdline" || continue
    # shellcheck disable=SC2053 # The pattern is meant as one.
    [[ ${words[0]:-} == $1 && " ${words[*]} " == *" --package-path $root "* ]] || continue
    found=0
    if [ "${2:-}" = threads ]; then
      [ -z "${CI:-}" ] || need_program gdb gdb
      say "The threads of process ${directory#/proc/}:"
      if command -v gdb >/dev/null; then
        gdb -p "${directory#/proc/}" -batch -ex 'thread apply all backtrace 40' 2>/dev/null | grep -E '^(Thread|#)' >&2 || true
      else
        say "(not shown: there is no gdb)"
      fi
    fi
    kill -KILL "${directory#/proc/}" || true
  done
  return "$found"
}

# Prints the tests of a log that have begun and not ended.
unfinished() {
  awk '
    !/^[^ ]+ Test / || /^[^ ]+ Test (case|run) / { next }
    / started\.$/ { sub(/^[^ ]+ /, ""); sub(/ started\.$/, ""); running[$0]++; next }
    / (passed|failed) after / {
      sub(/^[^ ]+ /, ""); sub(/( with [0-9]+ test cases?)? (passed|failed) after .*/, ""); running[$0]--
    }
    END { for (test in running) if (running[test] > 0) print "  " test }' "$1"
}

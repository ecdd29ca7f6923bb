# Ends tests that hang, and names them. To be sourced by bash, after setup.bash.

# end_stalled LOG SECONDS: ends the test process of this package once the log has not grown for so long, after printing what the
# process's threads do. Ends with the script.
end_stalled() {
  local log=$1 limit=$2 size last=-1 since=$SECONDS directory program
  while sleep 5 >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    size=$(wc -c <"$log")
    [ "$size" -eq "$last" ] || { last=$size since=$SECONDS; }
    [ $((SECONDS - since)) -ge "$limit" ] || continue
    since=$SECONDS
    for directory in /proc/[0-9]*; do
      IFS= read -r -d '' program 2>/dev/null <"$directory/cmdline" || continue
      [[ $program == "$root"/.build/*.xctest ]] || continue
      say "The tests have said nothing for $limit s. The threads of process ${directory#/proc/}:"
      [ -z "${CI:-}" ] || need_program gdb gdb
      if command -v gdb >/dev/null; then
        gdb -p "${directory#/proc/}" -batch -ex 'thread apply all backtrace 40' 2>/dev/null | grep -E '^(Thread|#)' >&2 || true
      else
        say "(not shown: there is no gdb)"
      fi
      kill -KILL "${directory#/proc/}" || true
    done
  done
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

# Says where a test process crashed. To be sourced by bash, after setup.bash.

# Has the Swift runtime write a report of each crash into a directory. The addresses in it are left alone: tests that crash on
# purpose would take seconds each.
report_crashes() {
  local program
  # Programs with the runtime inside of them find it by its path only, and say so if they do not.
  program=$(dirname "$(readlink -f "$(command -v swift)")")/../libexec/swift/linux/swift-backtrace
  [ -x "$program" ] || return 0
  export SWIFT_BACKTRACE="enable=yes,color=no,interactive=no,threads=crashed,registers=none,images=mentioned,symbolicate=off"
  SWIFT_BACKTRACE+=",limit=25,output-to=$1,swift-backtrace=$program"
}

# Prints the newest of a directory's reports that is not of a test that crashes on purpose.
print_crash() {
  local report text
  while read -r report; do
    text=$(name_addresses "$1/$report")
    if ! grep -q ExitTest <<<"$text"; then
      say "$(head -n 1 "$1/$report")"
      printf '%s\n' "$text" >&2
      return
    fi
  done < <(ls -t "$1" | head -n 8)
}

# Prints the functions of the addresses in a report, with their lines.
name_addresses() {
  local address start end path image
  while read -r address; do
    while read -r start end path; do
      if ((address >= start && address < end)); then
        image=$(printf '0x%x' $((address - start)))
        llvm-symbolizer --obj="$path" --demangle --output-style=GNU --pretty-print "$image" 2>/dev/null |
          sed -n '1s/^/  /p' | swift demangle --compact --simplified | cut -c 1-160
        continue 2
      fi
    done < <(sed -nE 's/^(0x[0-9a-f]+)[^0-9a-z]+(0x[0-9a-f]+) .* (\/.*)$/\1 \2 \3/p' "$1")
    printf '  %s\n' "$address"
  done < <(sed -nE 's/^ *[0-9]+ .*(0x[0-9a-f]+)$/\1/p' "$1")
}

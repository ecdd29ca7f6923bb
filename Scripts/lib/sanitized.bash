# A copy of the package for the Thread Sanitizer, in which mutexes are POSIX ones. To be sourced by bash after setup.bash.

# make_sanitized DIRECTORY TESTS: updates the copy; TESTS is the only test target that it keeps, since all of them take many
# times as long to build. Unchanged files are left alone, so that builds stay incremental.
make_sanitized() {
  local copy=$1 tests=$2 file directory
  mkdir -p "$copy"
  {
    cat "$root/Package.swift"
    printf '\npackage.targets.removeAll { $0.type == .test && $0.name != "%s" }\n' "$tests"
  } >"$copy/Package.swift.new"
  if cmp -s "$copy/Package.swift.new" "$copy/Package.swift"; then
    rm "$copy/Package.swift.new"
  else
    mv "$copy/Package.swift.new" "$copy/Package.swift"
  fi
  (
    cd "$root"
    git ls-files -co --exclude-standard -z Sources Tests Plugins |
      while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
      xargs -0 cp -pu --parents -t "$copy"
  )
  (cd "$copy" && find Sources Tests Plugins -type f ! -name PosixMutex.swift) |
    while IFS= read -r file; do [ -e "$root/$file" ] || rm "$copy/$file"; done
  for directory in "$copy"/Sources/*/ "$copy"/Tests/*/ "$copy"/Tests/Workshop/*/; do
    [ "$directory" != "$copy/Tests/Workshop/" ] || continue
    grep -rqs "Mutex" --include="*.swift" "$directory" || continue
    cp -pu "$root/Scripts/lib/PosixMutex.swift" "$directory"
  done
}

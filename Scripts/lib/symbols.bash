# Extracts the public symbols of modules. To be sourced by bash after setup.bash.

# extract_symbols MODULE DIRECTORY [OPTION ...]: builds the module, then writes its symbol graphs into the directory.
extract_symbols() {
  local module=$1 directory=$2 binaries target map maps=()
  swift build --package-path "$root" --target "$module" >&2
  binaries=$(swift build --package-path "$root" --show-bin-path)
  target=$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)",/\1/p' | head -1)
  for map in "$root"/Sources/*/module.modulemap; do maps+=(-Xcc "-fmodule-map-file=$map"); done
  # Kept until the module is built again: several scripts need the same.
  local kept="$root/.build/symbols/$module${*:3}"
  if [ ! -e "$kept/whole" ] || [ "$binaries/Modules/$module.swiftmodule" -nt "$kept/whole" ]; then
    rm -rf "$kept"
    mkdir -p "$kept"
    swift symbolgraph-extract -module-name "$module" -I "$binaries/Modules" "${maps[@]}" -target "$target" \
      -minimum-access-level public -skip-inherited-docs "${@:3}" -output-dir "$kept"
    touch "$kept/whole"
  fi
  cp "$kept"/*.symbols.json "$directory"
}

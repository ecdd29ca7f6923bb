# Shared by the other scripts: finds the package and checks its dependencies.
# To be sourced by bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

source "$root/Scripts/lib/help.sh"

# A script that is asked for help and has none of its own prints it before anything is built or installed.
if [[ ${1:-} == --help || ${1:-} == -h ]] && ! grep -qE -- '(^ *|in |\| )--help( \||\))|"\$1" = --help' "${BASH_SOURCE[1]}"; then
  print_help "${BASH_SOURCE[1]}"
  exit 0
fi

# Where the packages that use this one are built, all in the same directory, so that the engine is compiled once for them. Continuous
# integration takes the package's own, where the tests have compiled it; see there what that asks for.
clients=${COREDATA_CLIENTS_BUILD:-$root/.build/clients}

say() { printf '%s\n' "$*" >&2; }

stop() {
  say "error: $*"
  exit 1
}

# Ends a script that was called with invalid arguments, with the same code as the tools.
misuse() {
  say "error: $*"
  exit 64
}

# Builds products of the package, and prints the directory that has them. Fails with what the compiler says.
#
# Continuous integration has built them with the tests and names their directory: scripts can then run side by side, while
# another one has the package manager's lock.
products() {
  local configuration=$1 name output
  shift
  if [ "$configuration" = debug ] && [ -n "${COREDATA_PRODUCTS:-}" ]; then
    printf '%s\n' "$COREDATA_PRODUCTS"
    return
  fi
  for name; do
    output=$(swift build --package-path "$root" -c "$configuration" --product "$name" 2>&1) || {
      printf '%s\n' "$output" >&2
      return 1
    }
  done
  swift build --package-path "$root" -c "$configuration" --show-bin-path
}

# Runs a command with its output in a file and shows its progress on standard error: each second on a terminal, each half minute
# elsewhere. Returns the command's status.
logged() {
  local file=$1 status=0 watcher
  shift
  : >"$file"
  show_progress "$file" &
  watcher=$!
  "$@" >"$file" 2>&1 || status=$?
  kill "$watcher" 2>/dev/null || true
  wait "$watcher" 2>/dev/null || true
  [ ! -t 2 ] || printf '\r\033[K' >&2
  return "$status"
}

# Prints the progress for 'logged': the last build step, or the number of passed tests, and the elapsed time. Ends with the
# script.
show_progress() {
  local file=$1 started=$SECONDS pause=30 passed step
  [ ! -t 2 ] || pause=1
  while sleep "$pause" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    passed=$(grep -cE '^[^ ]+ Test .* passed after' "$file" || true)
    step=$(tail -c 4000 "$file" | grep -oE '^\[[0-9]+/[0-9]+\]' | tail -n 1 || true)
    if [ "$passed" -gt 0 ]; then step="$passed tests have passed"; fi
    if [ "$pause" -eq 1 ]; then
      printf '\r\033[K%d s  %s' $((SECONDS - started)) "$step" >&2
    else
      say "  $((SECONDS - started)) s  $step"
    fi
  done
}

# Makes the next build recompile the sources of a client package: an incremental build misses changes in the layout of a
# superclass in another package, and the client's subclasses would crash.
renew() { find "$1" -name '*.swift' -not -path '*/.build/*' -exec touch {} +; }

# Succeeds if the C compiler that comes with Swift finds a header.
has_header() {
  printf '#include <%s>\n' "$1" | clang -fsyntax-only -x c - 2>/dev/null
}

# Installs a Debian package if its header is missing.
need() { has_header "$1" || { install_package "$1" "$2" && { has_header "$1" || stop "$2 is installed, yet the compiler does not find $1."; }; }; }

# need_program COMMAND PACKAGE: installs a Debian package if its command is missing.
need_program() { command -v "$1" >/dev/null || install_package "$1" "$2"; }

# need_archive NAME PACKAGE: installs a Debian package if its static library is missing.
need_archive() { [ -e "$(cc -print-file-name="lib$1.a")" ] || install_package "lib$1.a" "$2"; }

# install_package FILE PACKAGE: installs the Debian package that brings a file.
install_package() {
  local file=$1 package=$2 as_root=()
  command -v apt-get >/dev/null ||
    stop "$file is missing, and this system has no apt-get. Install what brings it, then try again."
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true 2>/dev/null ||
      stop "$package is missing and only root may install it. Run 'sudo apt-get install $package', then try again."
    as_root=(sudo -n)
  fi
  say "Installing $package ..."
  # One at a time: continuous integration runs scripts side by side, and apt does not wait for another one.
  {
    flock 9 && "${as_root[@]}" apt-get update -qq &&
      DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$package" 9>&-
  } 9>"${TMPDIR:-/tmp}/coredata-install-$(id -u)" >/dev/null || stop "$package could not be installed. Run 'apt-get install $package' to see why."
}

command -v swift >/dev/null ||
  stop "there is no 'swift' on the path. Install a Swift 6.2 or newer toolchain from swift.org, then try again."
command -v clang >/dev/null ||
  stop "there is no 'clang' on the path. It comes with the Swift toolchain: put the toolchain's usr/bin on the path."

need sqlite3.h libsqlite3-dev
need zlib.h zlib1g-dev
need microhttpd.h libmicrohttpd-dev
need postgresql/libpq-fe.h libpq-dev

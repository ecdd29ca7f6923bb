# Other implementations of the benchmark's workload, each in a separate environment under Benchmarks/.build/peers.
# To be sourced by bash, after setup.bash.

# Creates a virtual environment with a Python package, unless it exists.
#
#   python_environment NAME MODULES PACKAGE...
python_environment() {
  local place="$root/Benchmarks/.build/peers/$1" modules=$2
  shift 2
  ! "$place/bin/python" -c "import $modules" 2>/dev/null || return 0
  command -v python3 >/dev/null || { say "There is no python3 on the path; Python 3.9 or newer runs $1."; return 1; }
  python3 -m venv "$place" 2>/dev/null ||
    { say "Python cannot make a virtual environment here; install its venv module (python3-venv on Debian)."; return 1; }
  "$place/bin/python" -m pip install --quiet --disable-pip-version-check "$@" ||
    { say "$1 could not be installed: pip found no package index that it can reach. See above."; return 1; }
}

# Compiles the program for EclipseLink with Debian's packages, which are installed if they are missing.
eclipselink_environment() {
  local place="$root/Benchmarks/.build/peers/eclipselink" sources="$root/Benchmarks/peers/eclipselink" as_root=()
  command -v javac >/dev/null || { say "There is no javac on the path; a Java 17 development kit compiles the program for EclipseLink."; return 1; }
  if [ ! -e /usr/share/java/eclipselink.jar ] || [ ! -e /usr/share/java/sqlite-jdbc.jar ]; then
    command -v apt-get >/dev/null || { say "EclipseLink is missing, and this system has no apt-get."; return 1; }
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get install --quiet --yes --no-install-recommends libeclipselink-java libxerial-sqlite-jdbc-java >&2 ||
      { say "EclipseLink could not be installed; see above."; return 1; }
  fi
  mkdir -p "$place"
  cp -r "$sources/META-INF" "$place/"
  javac -d "$place" -cp "$(eclipselink_classes)" "$sources"/*.java || { say "The program for EclipseLink does not compile; see above."; return 1; }
}

# The class path of EclipseLink.
eclipselink_classes() { printf '%s:' /usr/share/java/{eclipselink,eclipselink-jpa-2.1-spec,sqlite-jdbc}.jar; }

# Writes a program into a directory that runs a command with its own arguments.
#
#   peer_program FILE COMMAND...
peer_program() {
  local file=$1
  shift
  { printf '#!/bin/sh\nexec'; printf " '%s'" "$@"; printf ' "$@"\n'; } >"$file"
  chmod +x "$file"
}

# Prepares every available peer, and writes a program for each into a directory. Fails if there is none.
#
#   prepare_peers DIRECTORY sqlite|postgresql
prepare_peers() {
  local directory=$1 store=$2 peers="$root/Benchmarks/peers" built="$root/Benchmarks/.build/peers"
  mkdir -p "$directory" "$built"
  if [ "$store" = postgresql ]; then
    if python_environment postgresql 'sqlalchemy, psycopg' 'sqlalchemy>=2,<3' 'psycopg[binary]>=3,<4'; then
      peer_program "$directory/psycopg" "$built/postgresql/bin/python" -B "$peers/psycopg_works.py"
      peer_program "$directory/SQLAlchemy" "$built/postgresql/bin/python" -B "$peers/sqlalchemy_works.py"
    fi
    [ -n "$(ls "$directory")" ]
    return
  fi
  if python_environment sqlalchemy sqlalchemy 'sqlalchemy>=2,<3'; then
    peer_program "$directory/SQLAlchemy" "$built/sqlalchemy/bin/python" -B "$peers/sqlalchemy_works.py"
  fi
  if python_environment peewee peewee 'peewee>=3,<4'; then
    peer_program "$directory/peewee" "$built/peewee/bin/python" -B "$peers/peewee_works.py"
  fi
  if eclipselink_environment; then
    # The agent makes references between the classes load lazily.
    peer_program "$directory/EclipseLink" java -Xshare:auto -javaagent:/usr/share/java/eclipselink.jar \
      -cp "$built/eclipselink:$(eclipselink_classes)" EclipseLinkWorks
  fi
  [ -n "$(ls "$directory")" ]
}

# Help of scripts and lists of them. To be sourced by sh or bash.

# Prints the comment at the head of a script, its help.
print_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$1"; }

# Prints the names of a directory's scripts, each with the first sentence of its help.
list_scripts() {
  for file in "$1"/*; do
    printf '  %-20s %s\n' "${file##*/}" "$(awk '
      NR == 1 && /^#!/ { next }
      { sub(/^# ?|^"""/, ""); text = text (text == "" ? "" : " ") $0 }
      match(text, /[.:;]( |$)/) { print substr(text, 1, RSTART - 1); exit }' "$file")"
  done
}

# Prints the comment at the head of a script, its help. To be sourced by sh or bash.
print_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$1"; }

# Lists the command lines of Markdown pages, as FILE, tab, command: lines of fenced blocks that have no language or a
# shell's, and inline code, if they begin with a word that 'start' matches.
FNR == 1 { fence = 0 }
/^ *```/ {
  if (fence) fence = 0
  else { fence = 1; isShell = ($0 ~ /^ *```(bash|sh|console)?[ \t]*$/) }
  next
}
fence {
  line = $0
  sub(/^ *\$ /, "", line)
  if (isShell && line ~ start) print FILENAME "\t" line
  next
}
{
  pieces = split($0, piece, "`")
  for (i = 2; i <= pieces; i += 2) if (piece[i] ~ start) print FILENAME "\t" piece[i]
}

# Lists the places of Swift sources that throw or trap: file, tab, throws or traps, tab, message. The message is the
# first string literal of the statement without interpolations, or else the statement itself.
function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# The text between the first pair of quotation marks; interpolations become "…".
function said(text,   position, character, depth, result, i) {
  position = index(text, "\"")
  if (position == 0) return ""
  result = ""; depth = 0
  for (i = position + 1; i <= length(text); i++) {
    character = substr(text, i, 1)
    if (character == "\\" && substr(text, i + 1, 1) == "(") {
      if (depth == 0) result = result "…"
      depth = 1
      for (i = i + 2; i <= length(text) && depth > 0; i++) {
        character = substr(text, i, 1)
        if (character == "(") depth++
        if (character == ")") depth--
      }
      i--
      continue
    }
    if (character == "\\") { i++; continue }
    if (character == "\"") break
    result = result character
  }
  return result
}

function flush(   text, kind) {
  if (statement == "") return
  kind = statement ~ /(^|[^a-zA-Z_])throw / ? "throws" : "traps"
  text = said(statement)
  if (text == "" || text == "…") {
    text = statement
    sub(/^.*(throw|programmerError|preconditionFailure|precondition|fatalError)[ (]/, "", text)
  }
  gsub(/\|/, "", text)
  if (length(text) > 70) {
    # Cut at a word: some awks split multi-byte characters.
    text = substr(text, 1, 70)
    sub(/ [^ ]*$/, "", text)
  }
  text = trimmed(text)
  print file "\t" kind "\t" text
  statement = ""
}

FNR == 1 { flush(); file = FILENAME; sub(/^.*Sources\/CoreData\//, "", file) }
{
  line = $0
  sub(/^[ \t]*\/\/.*$/, "", line)
  if (statement != "") {
    statement = statement " " trimmed(line)
    if (--more == 0) flush()
    next
  }
  if (line ~ /func (programmerError|_refuse|refuse)\(/) next
  # Rethrows of errors from elsewhere.
  if (line ~ /throw (error|failure|underlying|first|cancellation)( |$|\))/) next
  if (line ~ /(^|[^a-zA-Z_])(throw |programmerError\(|preconditionFailure\(|precondition\(|fatalError\()/) {
    statement = trimmed(line)
    sub(/^.*else \{ /, "", statement)
    more = 3
    if (said(statement) != "") flush()
  }
}
END { flush() }

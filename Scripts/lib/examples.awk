# Extracts the ```swift blocks of doc comments and articles: one Swift file for each source file that has any, one function
# for each block, with the original locations. Prints the number of blocks of each file.
#
#   given=PARAMETERS imports=MODULES [tests=1] awk -v directory=DIRECTORY -f examples.awk FILE ...
#
# With tests=1 a block that begins with an attribute or a class becomes the content of a structure instead: the macros of tests do
# not work in functions.

# Writes a line to the file of the current source.
function put(text) { print text > output }

# Begins the file of the current source unless it exists.
function open_output(  i, modules) {
  if (count > 0) return
  output = directory "/Examples" ++outputs ".swift"
  for (i = split(ENVIRON["imports"], modules, " "); i > 0; i--) put("import " modules[i])
}

# Writes the block: extensions and imports at file scope, the rest as the body of a function.
function put_block(  i, isOutside, isTest) {
  open_output()
  isTest = ENVIRON["tests"] != "" && line[1] ~ /^(@|final class )/
  count++
  for (i = 1; i <= lines; i++) {
    if (line[i] ~ /^import /) {
      put("#sourceLocation(file: \"" FILENAME "\", line: " first + i - 1 ")")
      put(line[i])
      line[i] = ""
    } else if (isOutside || line[i] ~ /^(public |private )?extension /) {
      if (!isOutside) put("#sourceLocation(file: \"" FILENAME "\", line: " first + i - 1 ")")
      put(line[i])
      isOutside = line[i] !~ /^[^ ].*}$/ && line[i] !~ /^}/
      line[i] = ""
    }
  }
  if (isTest) {
    put("struct Example" outputs "_" count " {")
    put("#sourceLocation(file: \"" FILENAME "\", line: " first ")")
    for (i = 1; i <= lines; i++) put(line[i])
    put("#sourceLocation()")
    put("}")
    return
  }
  put("extension Examples {")
  put("@MainActor static func example" outputs "_" count "(")
  put(ENVIRON["given"])
  put(") async throws {")
  put("#sourceLocation(file: \"" FILENAME "\", line: " first ")")
  for (i = 1; i <= lines; i++) put(line[i])
  put("#sourceLocation()")
  put("}")
  put("}")
}

function finish_file() {
  if (inside) {
    print FILENAME ":" first ": error: the example has no end." > "/dev/stderr"
    exit 1
  }
  if (count > 0) { print count, name; close(output) }
}

FNR == 1 {
  if (name != "") finish_file()
  count = 0
  name = FILENAME
  isArticle = FILENAME ~ /\.md$/
}
{
  text = $0
  if (!isArticle && !sub(/^[ \t]*\/\/\/ ?/, "", text)) next
}
inside && text ~ /^ *```$/ { inside = 0; put_block(); next }
inside { line[++lines] = text; next }
text ~ /^ *```swift$/ { inside = 1; lines = 0; first = FNR + 1 }
END { finish_file() }

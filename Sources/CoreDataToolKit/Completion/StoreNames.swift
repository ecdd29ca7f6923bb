/// Names that shells complete from the store file on the command line: they ask the tool's command `store names`.
package enum StoreNames: String, Sendable, CaseIterable {
  /// Names of the model's entities.
  case entities
  /// Names of the properties of the entity that follows the file, as a list separated by commas.
  case properties

  /// The command that lists them: of a file, and with a second operand those of an entity.
  private static let _command = "store names"

  // MARK: Functions of the scripts

  /// - Parameter prefix: Begin of the function's name.
  func bash(_ prefix: String) -> String {
    """
    \(prefix)_\(rawValue)() {
      local i file= name=
      for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ -z $file ]]; then [[ -f ${COMP_WORDS[i]} ]] && file=${COMP_WORDS[i]}
        elif [[ ${COMP_WORDS[i]} != -* ]]; then name=${COMP_WORDS[i]}; break
        fi
      done
      [[ -n $file\(self == .properties ? " && -n $name" : "") ]] || return
      "${COMP_WORDS[0]}" \(Self._command) "$file"\(self == .properties ? " \"$name\"" : "") 2>/dev/null
    }

    """
  }

  func zsh(_ prefix: String, tool: String) -> String {
    """
    \(prefix)_\(rawValue)() {
      local file= name= word
      for word in $words; do
        if [[ -z $file ]]; then [[ -f $word ]] && file=$word
        elif [[ $word != -* ]]; then name=$word; break
        fi
      done
      [[ -n $file\(self == .properties ? " && -n $name" : "") ]] || return 1
      local -a names=(${(f)"$(\(tool) \(Self._command) $file\(self == .properties ? " $name" : "") 2>/dev/null)"})
      \(self == .properties ? "compset -P '*,'\n  compadd -S '' -a names" : "compadd -a names")
    }


    """
  }

  func fish(_ prefix: String, tool: String) -> String {
    """
    function \(prefix)_\(rawValue)
        set -l file
        set -l name
        for word in (\(prefix)_words)
            if test -z "$file"
                test -f "$word"; and set file $word
            else if test -z "$name"
                set name $word
            end
        end
        test -n "$file"\(self == .properties ? "; and test -n \"$name\"" : ""); and \(tool) \(Self._command) $file\(
          self == .properties ? " $name" : "") 2>/dev/null
    end


    """
  }
}

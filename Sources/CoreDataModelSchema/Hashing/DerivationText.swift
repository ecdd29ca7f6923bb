/// The text of a derivation expression in the form that version hashes and stores use.
package enum DerivationText {
  /// `pages.@count` becomes `count:(pages)`, `canonical(name)` becomes `canonical:(name)`, `now()` is
  /// unchanged, whitespace is removed.
  package static func canonical(_ text: String) -> String {
    let compact = text.filter { !$0.isWhitespace }
    if let open = compact.firstIndex(of: "(") {
      let (function, arguments) = (compact[..<open], compact[open...])
      return function.isEmpty || function.hasSuffix(":") || arguments == "()"
        ? compact : "\(function):\(arguments)"
    }
    guard let at = compact.lastIndex(of: "@"), at > compact.startIndex else { return compact }
    let dot = compact.index(before: at)
    let function = compact[compact.index(after: at)...]
    guard compact[dot] == ".", !function.isEmpty, function.allSatisfy({ $0.isLetter }) else { return compact }
    return "\(function):(\(compact[..<dot]))"
  }
}

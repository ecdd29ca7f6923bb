import CoreDataModelSchema

/// Converts names of the model to the style of database administrators.
package enum PostgreSQLNames {
  /// Key in the user info of an entity, attribute or relationship that names its table or column.
  static let userInfoKey = "postgresql.name"
  /// Maximum length of a name; the server truncates longer ones with only a notice.
  static let maximumLength = 63

  /// Returns `customer_order` for `CustomerOrder`, `url_path` for `URLPath`.
  static func snakeCase(_ name: String) -> String {
    let characters = Array(name)
    var result = ""
    for (index, character) in characters.enumerated() {
      guard character.isUppercase else {
        result.append(character)
        continue
      }
      let before = index > 0 ? characters[index - 1] : nil
      let after = index + 1 < characters.count ? characters[index + 1] : nil
      let startsWord =
        before.map { $0.isLowercase || $0.isNumber } ?? false
        || (before?.isUppercase ?? false) && (after?.isLowercase ?? false)
      if startsWord, result.last != "_" { result.append("_") }
      result += character.lowercased()
    }
    return result
  }

  /// Returns the text with certain scalars preceded by another one.
  ///
  /// Works on scalars, like the server: in Swift a quote and a combining mark form one character, which is
  /// not equal to a quote.
  private static func _escaped(_ text: String, _ special: Set<Unicode.Scalar>, by escape: Unicode.Scalar?)
    -> String
  {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if special.contains(scalar) { result.append(escape ?? scalar) }
      result.append(scalar)
    }
    return String(result)
  }

  /// Returns the name in double quotes; it may contain any characters.
  package static func quoted(_ name: String) -> String { "\"" + _escaped(name, ["\""], by: nil) + "\"" }

  /// Returns a name in double quotes without them.
  static func plain(_ quoted: String) -> String {
    // Works on scalars: a name may begin with one that combines with the quote.
    var result = String.UnicodeScalarView()
    var isSecond = false
    for scalar in quoted.unicodeScalars.dropFirst().dropLast() {
      isSecond = scalar == "\"" && !isSecond
      if !isSecond { result.append(scalar) }
    }
    return String(result)
  }

  /// Returns schema and name of `"schema"."name"`, without quotes.
  static func parts(_ qualified: String) -> (schema: String, name: String) {
    let scalars = qualified.unicodeScalars
    var end = scalars.index(after: scalars.startIndex)
    // A quote that no other quote follows ends the schema's name.
    while true {
      let next = scalars.index(after: end)
      if scalars[end] != "\"" {
        end = next
      } else if scalars[next] == "\"" {
        end = scalars.index(after: next)
      } else {
        break
      }
    }
    let schema = String(scalars[...end])
    let name = String(scalars[scalars.index(end, offsetBy: 2)...])
    return (plain(schema), plain(name))
  }

  /// Returns a name shortened so that the suffix fits.
  static func cut(_ name: String, for suffix: String) -> String {
    var name = name
    while name.utf8.count + suffix.utf8.count > maximumLength { name.removeLast() }
    return name + suffix
  }

  /// Returns names in double quotes as the text of an array.
  static func list(_ names: [String]) -> String {
    let elements = names.map { "\"" + _escaped(plain($0), ["\\", "\""], by: "\\") + "\"" }
    return "{\(elements.joined(separator: ","))}"
  }

  /// Returns a function's body in quotes: dollars, which leave it readable, unless it contains them, as with
  /// the name of a schema.
  static func body(_ text: String) -> String {
    text.unicodeScalars.contains("$") ? literal(text) : "$$\(text)$$"
  }

  /// Returns an expression of bytes.
  static func bytes(_ bytes: some Sequence<UInt8>) -> String {
    "pg_catalog.decode('\(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())', 'hex')"
  }

  /// Returns a text as a literal, for comments and names in DDL, which takes no parameters.
  static func literal(_ text: String) -> String {
    let start = text.unicodeScalars.contains("\\") ? "E'" : "'"
    let kept = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\0" }))
    return start + _escaped(kept, ["'", "\\"], by: nil) + "'"
  }
}

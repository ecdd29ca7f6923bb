import CoreDataModelSchema

/// Names of the model as a database administrator writes them.
enum PostgreSQLNames {
  /// Key in the user info of an entity, attribute or relationship that gives its table or column a name.
  static let userInfoKey = "postgresql.name"
  /// Names longer than this are cut by the server, with nothing but a notice.
  static let maximumLength = 63

  /// `customer_order` for `CustomerOrder`, `url_path` for `URLPath`.
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

  /// The text with some of its scalars preceded by another one.
  ///
  /// By scalars, as the server reads: a quote and a mark that combines with it are one character to Swift, which is no quote.
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

  /// The name in double quotes: as it is, whatever it is.
  static func quoted(_ name: String) -> String { "\"" + _escaped(name, ["\""], by: nil) + "\"" }

  /// A name in double quotes without them.
  static func plain(_ quoted: String) -> String {
    // By scalars: a name may begin with one that combines with the quote.
    var result = String.UnicodeScalarView()
    var isSecond = false
    for scalar in quoted.unicodeScalars.dropFirst().dropLast() {
      isSecond = scalar == "\"" && !isSecond
      if !isSecond { result.append(scalar) }
    }
    return String(result)
  }

  /// Schema and name of what `"schema"."name"` names, without quotes.
  static func parts(_ qualified: String) -> (schema: String, name: String) {
    let scalars = qualified.unicodeScalars
    var end = scalars.index(after: scalars.startIndex)
    // A quote that is followed by no other one ends the schema's name.
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

  /// A name cut so that it is whole with what follows it.
  static func cut(_ name: String, for suffix: String) -> String {
    var name = name
    while name.utf8.count + suffix.utf8.count > maximumLength { name.removeLast() }
    return name + suffix
  }

  /// Names in double quotes, as the text of one array.
  static func list(_ names: [String]) -> String {
    let elements = names.map { "\"" + _escaped(plain($0), ["\\", "\""], by: "\\") + "\"" }
    return "{\(elements.joined(separator: ","))}"
  }

  /// A text as a literal, for comments and names in DDL, which takes no parameters.
  static func literal(_ text: String) -> String {
    let start = text.unicodeScalars.contains("\\") ? "E'" : "'"
    let kept = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\0" }))
    return start + _escaped(kept, ["'", "\\"], by: nil) + "'"
  }
}

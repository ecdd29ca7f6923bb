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

  /// The name in double quotes: as it is, whatever it is.
  static func quoted(_ name: String) -> String {
    "\"\(name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
  }

  /// A name in double quotes without them.
  static func plain(_ quoted: String) -> String {
    String(quoted.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }

  /// Names in double quotes, as the text of one array.
  static func list(_ names: [String]) -> String {
    let elements = names.map { name in
      "\"\(plain(name).replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
    return "{\(elements.joined(separator: ","))}"
  }

  /// A text as a literal, for comments and names in DDL, which takes no parameters.
  static func literal(_ text: String) -> String {
    let escaped = text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
    let doubled = escaped.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
    return (doubled == escaped ? "'" : "E'") + doubled.filter { $0 != "\0" } + "'"
  }
}

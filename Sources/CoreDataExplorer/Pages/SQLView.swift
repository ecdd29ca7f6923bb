import CoreData
import Foundation

/// SQL laid out for reading: one clause per line, keywords highlighted.
enum SQLView {
  private static let _words: Set<String> = [
    "SELECT", "FROM", "WHERE", "AND", "OR", "NOT", "ORDER", "BY", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER",
    "ON", "AS", "IN", "IS",
    "NULL", "DESC", "ASC", "GROUP", "HAVING", "DISTINCT", "EXISTS", "BETWEEN", "LIKE", "GLOB", "ESCAPE",
    "COLLATE", "CASE", "WHEN",
    "THEN", "ELSE", "END", "UNION", "ALL", "COUNT", "MIN", "MAX", "SUM", "AVG", "IFNULL", "CAST", "VALUES",
  ]
  private static let _clauses: Set<String> = [
    "FROM", "WHERE", "ORDER", "LIMIT", "GROUP", "HAVING", "JOIN", "LEFT", "UNION",
  ]

  static func html(_ sql: String) -> HTML {
    var result = HTML.empty
    var depth = 0
    for token in _tokens(sql) {
      if token == "(" { depth += 1 }
      if token == ")" { depth -= 1 }
      let word = token.uppercased()
      if depth == 0, _clauses.contains(word) {
        result += "\n"
      } else if depth == 0, word == "AND" || word == "OR" {
        result += "\n  "
      }
      result += _words.contains(word) && token == word ? .tag("b", [:], HTML(token)) : HTML(token)
    }
    return .tag("pre", ["class": "sql", "tabindex": "0", "aria-label": "SQL"], result)
  }

  /// Splits SQL into words, quoted texts and names, and single other characters.
  private static func _tokens(_ sql: String) -> [String] {
    var tokens: [String] = []
    var rest = Substring(sql)
    while let first = rest.first {
      if first == "'" || first == "\"" {
        let end = rest.dropFirst().firstIndex(of: first).map { rest.index(after: $0) } ?? rest.endIndex
        tokens.append(String(rest[..<end]))
        rest = rest[end...]
      } else if first.isLetter || first == "_" {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        tokens.append(String(word))
        rest = rest.dropFirst(word.count)
      } else {
        tokens.append(String(first))
        rest = rest.dropFirst()
      }
    }
    return tokens
  }

  /// The plan as a tree, with scans and sorts highlighted.
  ///
  /// - Parameter stopsEarly: Whether a scan ends once the page is full, because it reads rows in page order.
  static func plan(_ lines: [String], stopsEarly: Bool) -> HTML {
    let steps = lines.map { line in
      (depth: line.prefix { $0 == " " }.count / 2, text: line.trimmingCharacters(in: .whitespaces))
    }
    guard !steps.isEmpty else { return .tag("p", ["class": "kind"], "SQLite needs no plan for this.") }
    var index = 0
    return _tree(steps, &index, 0, stopsEarly)
  }

  private static func _tree(
    _ steps: [(depth: Int, text: String)], _ index: inout Int, _ depth: Int, _ stopsEarly: Bool
  ) -> HTML {
    var items: [HTML] = []
    while index < steps.count, steps[index].depth >= depth {
      let step = steps[index]
      index += 1
      let (kind, word) = _kind(step.text, stopsEarly)
      let inner =
        index < steps.count && steps[index].depth > step.depth
        ? _tree(steps, &index, steps[index].depth, stopsEarly) : .empty
      items.append(
        .tag(
          "li", ["class": kind], .tag("span", ["class": "badge"], HTML(word)),
          .tag("code", [:], HTML(step.text)), inner))
    }
    return .tag("ul", ["class": "plan"], items)
  }

  private static func _kind(_ step: String, _ stopsEarly: Bool) -> (String, String) {
    if step.hasPrefix("SEARCH") { return ("good", "finds rows") }
    if step.hasPrefix("SCAN"), step.contains("USING") { return ("fair", "reads an index") }
    if step.hasPrefix("SCAN"), stopsEarly { return ("fair", "reads rows until the page is full") }
    if step.hasPrefix("SCAN") { return ("slow", "reads all rows") }
    if step.hasPrefix("USE TEMP B-TREE") { return ("slow", "sorts") }
    return ("plain", "step")
  }
}

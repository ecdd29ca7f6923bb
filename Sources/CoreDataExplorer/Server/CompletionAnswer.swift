import CoreDataMicroHTTPDBinding
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Completions at the end of a filter: properties along the key path, otherwise words of the language.
struct CompletionAnswer {
  private let _visit: Visit
  private let _entity: PropertyLayout

  private static let _words = [
    "AND", "OR", "NOT", "ANY", "BEGINSWITH[cd]", "CONTAINS[cd]", "ENDSWITH[cd]", "LIKE[cd]", "MATCHES",
    "BETWEEN", "IN", "nil", "TRUE",
    "FALSE", "SELF", "SUBQUERY(",
  ]
  private static let _most = 40

  init(_ visit: Visit) throws {
    _visit = visit
    _entity = try visit.entity("name")
  }

  func answer() -> HTTPResponse {
    let text = _visit.request.query("text") ?? ""
    let word = String(text.reversed().prefix { $0.isLetter || $0.isNumber || "_.@$".contains($0) }.reversed())
    let options = _isQuoted(text) ? [] : _options(word)
    let last = word.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
    let json = JSONText.object([
      ("length", .integer(last.utf16.count)),
      (
        "options",
        .array(
          options.prefix(Self._most).map {
            .object([("text", .string($0.text)), ("kind", .string($0.kind))])
          })
      ),
    ])
    return HTTPResponse(
      headers: SecurityHeaders.files + [("Content-Type", "application/json")], text: json.text() + "\n")
  }

  /// Whether the text ends within a quoted value.
  private func _isQuoted(_ text: String) -> Bool {
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      }
    }
    return quote != nil
  }

  private func _options(_ word: String) -> [(text: String, kind: String)] {
    let layout = _visit.store.layout
    var steps = word.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let prefix = (steps.popLast() ?? "").lowercased()
    var (entity, isMany) = (_entity, false)
    for step in steps {
      guard let slot = entity.slot(named: step), let relationship = entity.slots[slot].relationship else {
        return []
      }
      if relationship.isToMany { isMany = true }
      entity = layout.layout(numbered: relationship.destination)
    }
    var options: [(text: String, kind: String)] = []
    if isMany, !steps.isEmpty {
      options += ["@count", "@sum", "@avg", "@min", "@max"].map { ($0, "of the members") }
    }
    options += entity.slots.filter { !$0.isHidden && !$0.isTransient }.map { ($0.name, _kind($0)) }
      .sorted { $0.0 < $1.0 }
    if steps.isEmpty, !prefix.isEmpty { options += Self._words.map { ($0, "") } }
    let begins = options.filter { $0.text.lowercased().hasPrefix(prefix) }
    let holds = options.filter {
      !prefix.isEmpty && !$0.text.lowercased().hasPrefix(prefix) && $0.text.lowercased().contains(prefix)
    }
    let found = begins + holds
    // Nothing left to complete.
    return found.count == 1 && found[0].text.lowercased() == prefix ? [] : found
  }

  private func _kind(_ slot: PropertyLayout.Slot) -> String {
    if let attribute = slot.attribute { return attribute.type.fileName }
    guard let relationship = slot.relationship else { return "" }
    let name = _visit.store.layout.layout(numbered: relationship.destination).entityName
    return relationship.isToMany ? "many \(name)" : name
  }
}

import CoreDataModelSchema

/// The attribute of each entity that labels its objects.
package struct EntityLabels: Sendable {
  private let _attributes: [String?]

  private static let _usual = [
    "name", "title", "displayname", "fullname", "label", "caption", "heading", "subject", "headline",
    "lastname", "firstname",
    "username", "email", "text", "summary", "identifier", "key", "url", "urlstring", "path", "filename",
  ]

  package init(_ layout: ModelLayout) {
    _attributes = layout.layouts.map { entity in
      let names = entity.slots.filter {
        !$0.isHidden && !$0.isTransient && ($0.form == .string || $0.form == .uri)
      }.map(\.name)
      let known = names.map { name in (name, Self._usual.firstIndex(of: name.lowercased()) ?? .max) }
        .filter { $0.1 < .max }.min { ($0.1, $0.0) < ($1.1, $1.0) }
      if let known { return known.0 }
      func containing(_ part: String) -> String? { names.filter { $0.lowercased().contains(part) }.min() }
      return containing("name") ?? containing("title") ?? names.min()
    }
  }

  /// The attribute; nil for an entity without a text.
  package func attribute(of entity: PropertyLayout) -> String? { _attributes[entity.entityNumber - 1] }
}

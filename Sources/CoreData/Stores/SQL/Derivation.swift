import CoreDataModelSchema
import Foundation

/// The source of a derived attribute, as far as SQL triggers can maintain it.
package struct Derivation: Sendable {
  package enum Source: Sendable {
    /// `now()`.
    case moment
    /// An attribute of the same row.
    case attribute(Int)
    /// An attribute of a to-one's destination.
    case distant(toOne: Int, attribute: Int)
    /// The members of a to-many; `attribute` is nil if they are counted.
    case members(toMany: Int, function: String, attribute: Int?)
  }

  /// A text function.
  package enum TextFunction: String, Sendable {
    case uppercase
    case lowercase
    case canonical

    package func callAsFunction(_ text: String) -> String {
      switch self {
      case .uppercase: text.uppercased()
      case .lowercase: text.lowercased()
      case .canonical: text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
      }
    }
  }

  package let source: Source
  /// The function applied to the value; nil for the unchanged value.
  package let function: TextFunction?

  private static let _aggregates = [
    "count": "COUNT", "sum": "SUM", "min": "MIN", "max": "MAX", "avg": "AVG", "average": "AVG",
  ]

  /// Parses the derivation expression of an entity's attribute.
  ///
  /// - Throws: `UnsupportedModelError` for expressions that Core Data rejects as well, and for key paths
  ///   through more than one relationship.
  package init(_ text: String, attribute: String, in layout: PropertyLayout, _ model: ModelLayout) throws {
    let canonical = DerivationText.canonical(text)
    func refuse(_ reason: String) -> UnsupportedModelError {
      UnsupportedModelError(
        entity: layout.entityName, property: attribute,
        reason: "the derivation '\(text)' cannot be used: \(reason)")
    }
    if canonical == "now()" || canonical == "now:()" {
      self.init(source: .moment, function: nil)
      return
    }
    var path = canonical
    var name: String?
    if let open = canonical.firstIndex(of: "("), canonical.hasSuffix(")") {
      name = String(canonical[..<open].prefix { $0 != ":" })
      path = String(canonical[canonical.index(after: open)...].dropLast())
    }
    guard !path.contains("@"), !path.contains("("), !path.contains(",") else {
      throw refuse("an operator such as @count must stand at the end of the key path")
    }
    let steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let first = steps.first, let slot = layout.slot(named: first) else {
      throw refuse("'\(steps.first ?? "")' is no property of the entity")
    }
    guard steps.count <= 2 else { throw refuse("the key path may lead over one relationship only") }
    guard let relationship = layout.slots[slot].relationship else {
      guard steps.count == 1 else { throw refuse("'\(first)' is no relationship") }
      guard name == nil || TextFunction(rawValue: name!) != nil else {
        throw refuse("there is no function '\(name!)' of an attribute")
      }
      self.init(source: .attribute(slot), function: name.flatMap { TextFunction(rawValue: $0) })
      return
    }
    let destination = model.layout(numbered: relationship.destination)
    let target = steps.count == 2 ? destination.slot(named: steps[1]) : nil
    if steps.count == 2, target == nil || destination.slots[target!].attribute == nil {
      throw refuse("'\(steps[1])' is no attribute of '\(destination.entityName)'")
    }
    if relationship.isToMany {
      guard let name, let aggregate = Self._aggregates[name] else {
        throw refuse("of a to-many only @count, @sum, @min, @max and @avg can be derived")
      }
      guard name == "count" || target != nil else {
        throw refuse("@\(name) needs an attribute of the members")
      }
      self.init(
        source: .members(toMany: slot, function: aggregate, attribute: name == "count" ? nil : target),
        function: nil)
      return
    }
    guard let target else { throw refuse("a relationship itself is no value") }
    guard name == nil || TextFunction(rawValue: name!) != nil else {
      throw refuse("there is no function '\(name!)' of an attribute")
    }
    self.init(
      source: .distant(toOne: slot, attribute: target), function: name.flatMap { TextFunction(rawValue: $0) })
  }

  private init(source: Source, function: TextFunction?) {
    self.source = source
    self.function = function
  }
}

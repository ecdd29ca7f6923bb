import CoreDataModelSchema
import CoreDataPredicateLanguage

/// What one side of a comparison stands for in the model.
enum PredicateSubject {
  case attribute(AttributeSchema)
  /// An object, or the objects of a relationship.
  case object(PropertyLayout)
  /// A number that is computed.
  case number
  /// Something about which the model says nothing.
  case unknown

  /// The entities that `SELF` and variables stand for.
  struct Scope {
    let layout: ModelLayout
    let entity: PropertyLayout
    var variables: [String: PropertyLayout] = [:]
  }

  init(_ expression: ExpressionTree, _ scope: Scope) {
    switch expression {
    case .evaluatedObject: self = .object(scope.entity)
    case .variable(let name): self = scope.variables[name].map { .object($0) } ?? .unknown
    case .keyPath(let path): self = Self._walk(path[...], .object(scope.entity), scope.layout)
    case .keyPathOf(let base, let path):
      self = Self._walk(path[...], PredicateSubject(base, scope), scope.layout)
    case .function(let function, let arguments):
      switch function {
      case .min,
        .max where arguments.count == 1:
        self = PredicateSubject(arguments[0], scope)
      case .count, .sum, .average: self = .number
      default: self = .unknown
      }
    case .subquery(let collection, _, _): self = PredicateSubject(collection, scope)
    default: self = .unknown
    }
  }

  private static func _walk(
    _ path: ArraySlice<String>, _ subject: PredicateSubject, _ layout: ModelLayout
  ) -> PredicateSubject {
    guard let name = path.first else { return subject }
    let rest = path.dropFirst()
    switch name.lowercased() {
    case "self": return _walk(rest, subject, layout)
    case "@count", "@sum", "@avg": return .number
    case "@min", "@max", "@unionofobjects", "@distinctunionofobjects": return _walk(rest, subject, layout)
    default: break
    }
    switch subject {
    case .object(let entity):
      guard let slot = layout.storedProperty(name, of: entity)?.slot else { return .unknown }
      if let attribute = slot.attribute { return _walk(rest, .attribute(attribute), layout) }
      guard let relationship = slot.relationship else { return .unknown }
      return _walk(rest, .object(layout.layout(numbered: relationship.destination)), layout)
    case .attribute(let attribute):
      guard let element = attribute.elements.first(where: { $0.name == name }) else { return .unknown }
      return _walk(rest, .attribute(element), layout)
    case .number, .unknown: return .unknown
    }
  }
}

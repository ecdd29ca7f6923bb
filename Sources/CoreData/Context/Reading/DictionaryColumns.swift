import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The requested columns of a dictionary fetch: the plan for the store and the presentation of the values.
struct DictionaryColumns {
  let plan: DictionaryPlan
  /// Codings by column; nil for objects and columns without a declared type.
  private let _codings: [AttributeCoding?]
  private let _model: FrozenModel

  /// - Throws: A Cocoa error for an unknown property, a to-many, or a selection that grouping does not allow.
  init(_ request: AnyFetchRequest, _ rows: FetchPlan, _ model: FrozenModel) throws {
    _model = model
    var plan = DictionaryPlan(rows: rows, columns: [])
    var codings: [AttributeCoding?] = []
    let resolver = Resolver(layout: rows.layout, model: model)
    func add(_ resolved: Resolver.Resolved) {
      plan.columns.append(resolved.column)
      codings.append(resolved.coding)
    }
    if let wanted = request.propertiesToFetch, !wanted.isEmpty {
      for property in wanted { add(try resolver.resolve(property, "propertiesToFetch")) }
    } else {
      for slot in rows.layout.slots where slot.isAttribute && !slot.isTransient {
        add(try resolver.resolve(slot.name, "propertiesToFetch"))
      }
    }
    plan.groups = try (request.propertiesToGroupBy ?? []).map {
      try resolver.resolve($0, "propertiesToGroupBy").column.expression
    }
    if let having = request.havingPredicate {
      guard !plan.groups.isEmpty else {
        throw Self._error(
          "The fetch of '\(rows.layout.entityName)' has a havingPredicate, which needs propertiesToGroupBy.")
      }
      let condition = try PredicateTree(having).forStores
      try Self._checkHaving(condition, rows.layout, model)
      plan.having = condition
    }
    plan.isDistinct = request.returnsDistinctResults
    let layouts = model.layout.layouts
    let aggregates = plan.columns.map {
      RowAggregate.occurs(in: $0.expression, from: rows.layout, in: layouts)
    }
    plan.isGrouped = !plan.groups.isEmpty || aggregates.contains(true)
    if !plan.groups.isEmpty {
      for (column, isAggregate) in zip(plan.columns, aggregates) where !isAggregate {
        if case .constant = column.expression { continue }
        guard plan.groups.contains(column.expression) else {
          throw Self._error(
            "The fetch of '\(rows.layout.entityName)' groups rows, so each property to fetch must be grouped by, an "
              + "aggregate or a constant; '\(column.name)' is none of these.")
        }
      }
    }
    self.plan = plan
    _codings = codings
  }

  /// Returns the dictionary for one row of values; nil values are omitted.
  func dictionary(for values: [Value]) throws -> NSDictionary {
    let result = NSMutableDictionary(capacity: values.count)
    for (index, value) in values.enumerated() {
      if let object = try _shown(value, _codings[index]) {
        result[plan.columns[index].name as NSString] = object
      }
    }
    return result
  }

  private func _shown(_ value: Value, _ coding: AttributeCoding?) throws -> Any? {
    switch value {
    case .reference(let key): return NSManagedObjectID(key)
    case .pending(let id): return id.canonical
    default: break
    }
    if let coding { return try coding.object(from: value) }
    switch value {
    case .null, .toMany, .reference, .pending, .composite, .transformable: return nil
    case .int(let number): return NSNumber(value: number)
    case .double(let number): return NSNumber(value: number)
    case .string(let text): return text
    case .data(let data): return data
    case .uuid(let uuid): return uuid
    case .decimal(let box): return NSDecimalNumber(decimal: box.decimal)
    }
  }

  /// As in Core Data, a HAVING predicate names aggregates as variables and does not repeat their expressions.
  private static func _checkHaving(
    _ condition: PredicateTree, _ layout: PropertyLayout, _ model: FrozenModel
  ) throws {
    try condition.forEachExpression { part in
      guard case .function(let function, let arguments) = RowAggregate.spelledOut(part),
        RowAggregate.isTaken(function, arguments, from: layout, in: model.layout.layouts)
      else { return }
      throw _error(
        "The havingPredicate of the fetch of '\(layout.entityName)': Unsupported function expression "
          + "\(function.rawValue)(\(arguments.map(\.outline).joined(separator: ", "))). Fetch the aggregate as an "
          + "NSExpressionDescription, and compare NSExpression(forVariable:) with its name.")
    }
  }

  fileprivate static func _error(_ message: String) -> CocoaError {
    CocoaError.coreData(NSCoreDataError, message)
  }

  // MARK: Resolving

  /// Resolves names and expression descriptions.
  private struct Resolver {
    struct Resolved {
      let column: DictionaryPlan.Column
      let coding: AttributeCoding?
    }

    let layout: PropertyLayout
    let model: FrozenModel

    func resolve(_ property: Any, _ list: String) throws -> Resolved {
      switch property {
      case let text as String: return try _named(text, list)
      case let description as NSExpressionDescription: return try _computed(description, list)
      case let description as NSPropertyDescription: return try _named(description.name, list)
      default:
        throw _error("\(list) holds a \(type(of: property)); it takes names and property descriptions.")
      }
    }

    private func _named(_ name: String, _ list: String) throws -> Resolved {
      if name == "objectID" || name == "self" || name == "SELF" {
        return Resolved(column: .init(name: name, expression: .evaluatedObject, type: .objectID), coding: nil)
      }
      guard let path = KeyPathText.components(name) else {
        throw _error("\(list) names '\(name)', which is no key path.")
      }
      return try _path(path, name, list)
    }

    private func _path(_ path: [String], _ name: String, _ list: String) throws -> Resolved {
      var place = layout
      for (index, key) in path.enumerated() {
        let isLast = index == path.count - 1
        if isLast, key == "objectID", index > 0 {
          return Resolved(column: .init(name: name, expression: .keyPath(path), type: .objectID), coding: nil)
        }
        guard let slot = place.slot(named: key) else {
          throw _error("\(list) names '\(name)': keypath \(name) not found in entity \(place.entityName).")
        }
        if place.slots[slot].isTransient {
          throw _error("\(list) names '\(name)', which is transient and not in the store.")
        }
        switch place.slots[slot].kind {
        case .attribute(let attribute):
          guard isLast else {
            throw _error(
              "\(list) names '\(name)', but the attribute '\(key)' has no property '\(path[index + 1])'.")
          }
          return Resolved(
            column: .init(name: name, expression: .keyPath(path), type: attribute.type),
            coding: model.entities[place.entityNumber - 1].shape.codings[slot])
        case .relationship(let relationship):
          guard !relationship.isToMany else {
            throw _error(
              "\(list) names '\(name)': invalid to-many relationship '\(key)'; a dictionary has one value for a key. "
                + "Use an NSExpressionDescription that counts or sums it.")
          }
          place = model.layout.layout(numbered: relationship.destination)
        }
      }
      return Resolved(column: .init(name: name, expression: .keyPath(path), type: .objectID), coding: nil)
    }

    private func _computed(_ description: NSExpressionDescription, _ list: String) throws -> Resolved {
      guard let expression = description.expression, !description.name.isEmpty else {
        throw _error(
          "\(list) holds an NSExpressionDescription without \(description.name.isEmpty ? "name" : "expression")."
        )
      }
      let tree = try RowAggregate.spelledOut(expression.tree).forStores
      let declared = AttributeType(rawValue: description.expressionResultType.rawValue) ?? .undefined
      if let inferred = _type(of: tree) {
        let type = declared == .undefined ? inferred.type : declared
        let coding = type == inferred.type ? inferred.coding : _coding(type, description.name)
        return Resolved(
          column: .init(name: description.name, expression: tree, type: type),
          coding: type == .objectID ? nil : coding)
      }
      return Resolved(
        column: .init(name: description.name, expression: tree, type: declared),
        coding: _coding(declared, description.name))
    }

    private func _coding(_ type: AttributeType, _ name: String) -> AttributeCoding? {
      if type == .undefined || type == .objectID { return nil }
      return AttributeCoding(
        AttributeSchema(traits: PropertyTraits(name: name), type: type), entityName: layout.entityName)
    }

    /// The type of a key path, or of a minimum or maximum over one.
    private func _type(of tree: ExpressionTree) -> (type: AttributeType, coding: AttributeCoding?)? {
      switch tree {
      case .evaluatedObject: return (.objectID, nil)
      case .keyPath(let path):
        guard let found = try? _path(path, "", "") else { return nil }
        return (found.column.type, found.coding)
      case .function(.min, let arguments) where arguments.count == 1,
        .function(.max, let arguments) where arguments.count == 1,
        .function(.unindexed, let arguments) where arguments.count == 1:
        return _type(of: arguments[0])
      case .function(.count, _): return (.integer64, _coding(.integer64, ""))
      default: return nil
      }
    }

    private func _error(_ message: String) -> CocoaError { DictionaryColumns._error(message) }
  }
}

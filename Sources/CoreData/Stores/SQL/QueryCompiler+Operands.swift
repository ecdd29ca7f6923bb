import CoreDataModelSchema
import CoreDataPredicateLanguage

/// The kind of an SQL value, which determines the conversion of constants compared with it.
package enum ValueKind: Sendable, Hashable {
  case string
  case number
  case date
  case uuid
  case data
  /// The encoded bytes of a transformable attribute; constants compared with them are encoded as well.
  case transformed(entity: Int, slot: Int)
  /// Bytes whose stored form differs from the value: only NULL can be tested.
  case opaque
  case other

  package init(_ content: ColumnContent) {
    self =
      switch content {
      case .int, .bool, .double, .decimal, .foreignKey, .foreignEntity, .order: .number
      case .string: .string
      case .uuid: .uuid
      case .data: .data
      case .transformable, .externalData: .opaque
      }
  }

  package init(_ value: PredicateValue) {
    self =
      switch value {
      case .string, .url: .string
      case .bool, .int, .double, .decimal: .number
      case .date: .date
      case .uuid: .uuid
      case .data: .data
      default: .other
      }
  }

  /// Whether the bytes carry no order or sum of the values.
  package var isOpaque: Bool {
    switch self {
    case .opaque, .transformed: true
    default: false
    }
  }

  /// The conversion of a constant that is compared with this kind.
  package var conversion: ConstantConversion {
    switch self {
    case .uuid: .uuid
    case .transformed(let entity, let slot): .transformed(entity: entity, slot: slot)
    default: .natural
    }
  }
}

/// One side of a comparison, resolved.
package enum Operand {
  /// A constant by its number. Its binding depends on the other side.
  case constant(Int, PredicateValue)
  case scalar(SQLFragment, ValueKind)
  /// SELF, a to-one, a variable.
  case object(QueryScope)
  /// The entity of an object, as its stored number.
  case entity(SQLFragment)
  /// The name of an object's entity, as its stored number.
  case entityName(SQLFragment)
  case toMany(ToManyPath)
  /// Several values, at least one of them not constant.
  case list([Operand])
}

/// A key path up to its first to-many, and its remaining keys.
package struct ToManyPath {
  package let owner: QueryScope
  package let slot: Int
  package let rest: ArraySlice<String>
  package let outline: String
}

/// Expressions.
extension QueryCompiler {
  package mutating func operand(_ expression: ExpressionTree) throws -> Operand {
    try deeper { compiler in
      switch expression {
      case .constant(let value): return .constant(try compiler.consumeConstant(value), value)
      case .evaluatedObject: return .object(compiler.evaluated)
      case .variable(let name):
        if compiler.variables[name] == nil, let column = compiler.columns[name] {
          return .scalar(column.fragment, column.kind)
        }
        return .object(try compiler._scope(name))
      case .keyPath(let path):
        return try compiler.resolve(path[...], from: compiler.evaluated, outline: expression.outline)
      case .keyPathOf(let base, let path): return try compiler._operand(of: base, path, expression)
      case .function(let function, let arguments):
        return try compiler.function(function, arguments, expression)
      case .aggregate(let members): return .list(try members.map { try compiler.operand($0) })
      case .conditional(let test, let first, let second):
        return try compiler._conditional(test, first, second)
      case .subquery:
        throw compiler.untranslatable(expression.outline, "a SUBQUERY can only be counted; add .@count")
      case .block(let block, _) where block.isNestingLimit:
        throw compiler.untranslatable("the predicate", NestingLimit.problem)
      case .customFunction, .set, .assignment, .anyKey, .block:
        throw compiler.untranslatable(expression.outline, "\(compiler.dialect.name) has no such expression")
      }
    }
  }

  private func _scope(_ variable: String) throws -> QueryScope {
    guard let scope = variables[variable] else {
      throw untranslatable("$\(variable)", "the variable has no value; substitute it before fetching")
    }
    return scope
  }

  private mutating func _operand(
    of base: ExpressionTree, _ path: [String], _ expression: ExpressionTree
  ) throws -> Operand {
    switch base {
    case .evaluatedObject: return try resolve(path[...], from: evaluated, outline: expression.outline)
    case .variable(let name): return try resolve(path[...], from: _scope(name), outline: expression.outline)
    case .keyPath(let start):
      return try resolve((start + path)[...], from: evaluated, outline: expression.outline)
    case .keyPathOf(let inner, let start): return try _operand(of: inner, start + path, expression)
    case .subquery(let collection, let variable, let predicate):
      guard path == ["@count"] else {
        throw untranslatable(expression.outline, "a SUBQUERY can only be counted; use .@count")
      }
      return .scalar(try countedSubquery(collection, variable, predicate), .number)
    default: throw untranslatable(expression.outline, "it has no properties in the store")
    }
  }

  private mutating func _conditional(
    _ test: PredicateTree, _ first: ExpressionTree, _ second: ExpressionTree
  ) throws -> Operand {
    let condition = try self.condition(test)
    let (then, otherwise) = (try operand(first), try operand(second))
    let kind = then.kind == .other ? otherwise.kind : then.kind
    let one = try scalar(then, kind.conversion, first.outline)
    let other = try scalar(otherwise, kind.conversion, second.outline)
    return .scalar("(CASE WHEN \(condition) THEN \(one) ELSE \(other) END)", kind)
  }

  /// Resolves a key path from an object; continues beyond an attribute if `goesIntoValues`.
  package mutating func resolve(
    _ path: ArraySlice<String>, from start: QueryScope, outline: String, goesIntoValues: Bool = true
  ) throws -> Operand {
    var scope = start
    var rest = path
    while let key = rest.popFirst() {
      guard let slot = scope.layout.slot(named: key) else {
        if let special = try _special(key, rest, scope, outline) { return special }
        continue
      }
      switch mapping.storage(of: slot, in: scope.layout.entityNumber) {
      case .none:
        throw untranslatable(outline, "'\(key)' is transient and not in the store")
      case .attribute(let column):
        let content = mapping.column(column, of: scope.layout.entityNumber).content
        let kind: ValueKind =
          content == .transformable
          ? .transformed(entity: scope.layout.entityNumber, slot: slot) : ValueKind(content)
        let value = Operand.scalar(SQLFragment(text: scope.value(column, &aliases)), kind)
        if rest.isEmpty { return value }
        guard goesIntoValues else {
          throw untranslatable(
            outline, "the attribute '\(key)' has no property '\(rest.joined(separator: "."))'")
        }
        return try _property(rest, of: value, key, outline)
      case .composite(let leaves):
        guard let leaf = leaves.first(where: { $0.names.elementsEqual(rest) }) else {
          throw untranslatable(
            outline,
            "of the composite '\(key)' only its elements can be compared: "
              + leaves.map { $0.names.joined(separator: ".") }.joined(separator: ", "))
        }
        let content = mapping.column(leaf.column, of: scope.layout.entityNumber).content
        return .scalar(SQLFragment(text: scope.value(leaf.column, &aliases)), ValueKind(content))
      case .toOne:
        guard let next = scope.destination(of: slot, &aliases) else { break }
        scope = next
      case .oneToMany, .manyToMany:
        let many = ToManyPath(owner: scope, slot: slot, rest: rest, outline: outline)
        return try aggregate(many) ?? .toMany(many)
      }
    }
    return .object(scope)
  }

  /// Compiles a key that follows an attribute as a property of its value.
  private func _property(
    _ path: ArraySlice<String>, of value: Operand, _ key: String, _ outline: String
  ) throws -> Operand {
    guard case .scalar(let column, let kind) = value, path.count == 1, let name = path.first else {
      throw untranslatable(outline, "the attribute '\(key)' has no property '\(path.joined(separator: "."))'")
    }
    guard let (property, propertyKind) = dialect.property(name, of: column, kind) else {
      throw untranslatable(outline, "the attribute '\(key)' has no property '\(name)' in SQL")
    }
    return .scalar(property, propertyKind)
  }

  /// Compiles keys that every object has; nil for a key that refers to the object itself.
  private mutating func _special(
    _ key: String, _ rest: ArraySlice<String>, _ scope: QueryScope, _ outline: String
  ) throws -> Operand? {
    switch key.lowercased() {
    case "self", "objectid": return rest.isEmpty ? .object(scope) : nil
    case "entity":
      let column = SQLFragment(text: scope.entity(&aliases))
      if rest.isEmpty { return .entity(column) }
      if rest.elementsEqual(["name"]) { return .entityName(column) }
      throw untranslatable(outline, "of an entity only its name can be asked for")
    default:
      if key.hasPrefix("@") {
        throw untranslatable(outline, "'\(key)' must follow a to-many relationship")
      }
      let known = scope.layout.slotsByName.keys.sorted()
      let guess = Spelling.nearest(to: key, in: known).map { ". Did you mean '\($0)'?" } ?? ""
      throw untranslatable(outline, "keypath \(key) not found in entity \(scope.layout.entityName)\(guess)")
    }
  }

  // MARK: Operands as SQL

  /// Returns the conversion of a constant that is compared with `operand`.
  package func conversion(for operand: Operand) -> ConstantConversion {
    switch operand {
    case .object(let scope): .key(root: scope.layout.rootNumber)
    case .entity, .entityName: .entity
    case .scalar(_, let kind): kind.conversion
    case .constant, .toMany, .list: .natural
    }
  }

  /// Compiles an operand that must be a single value.
  package mutating func scalar(
    _ operand: Operand, _ conversion: ConstantConversion, _ outline: String
  ) throws -> SQLFragment {
    switch operand {
    case .constant(let index, let value):
      if case .transformed = conversion { return dialect.constant(.constant(index, conversion), value) }
      switch value {
      case .collection, .dictionary:
        throw untranslatable(outline, "a collection stands where one value is needed")
      default: return dialect.constant(.constant(index, conversion), value)
      }
    case .scalar(let fragment, _): return fragment
    case .object(let scope): return SQLFragment(text: scope.identity)
    case .entity(let column), .entityName(let column): return column
    case .toMany(let path): throw untranslatable(path.outline, "to-many key not allowed here")
    case .list: throw untranslatable(outline, "several values stand where one is needed")
    }
  }
}

extension Operand {
  package var kind: ValueKind {
    switch self {
    case .scalar(_, let kind): kind
    case .constant(_, let value): ValueKind(value)
    default: .other
    }
  }
}

import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Foundation

/// Encodes the parameters for one run of a query.
struct PostgreSQLBinder {
  let spaces: [ObjectIDSpace]
  let numbers: EntityNumbers
  let entityName: String
  /// Bound for an object that matches no row: unsaved, or of another store or table.
  private static let _noKey = Int64.min

  static func members(of value: PredicateValue) -> [PredicateValue] {
    switch value {
    case .collection(let values): values
    case .dictionary(let entries): Array(entries.values)
    default: []
    }
  }

  /// - Throws: `UntranslatableQueryError` for a pattern that means something else in PostgreSQL, and for a
  ///   text with a zero byte, which no text in the database contains.
  func parameters(
    for query: PostgreSQLQuery, _ plan: FetchPlan, _ constants: [PredicateValue]
  ) throws -> PostgreSQLParameters {
    var result = PostgreSQLParameters()
    for (parameter, type) in query.parameters { try add(parameter, type, plan, constants, to: &result) }
    return result
  }

  /// Adds one parameter of a query.
  func add(
    _ parameter: QueryParameter, _ type: PostgreSQLType, _ plan: FetchPlan, _ constants: [PredicateValue],
    to parameters: inout PostgreSQLParameters
  ) throws {
    switch parameter {
    case .constant(let index, let conversion): try _add(constants[index], conversion, type, to: &parameters)
    case .constants(let indices, let conversion):
      parameters.add(try _array(indices.map { constants[$0] }, conversion, type))
    case .now: parameters.add(Date().timeIntervalSinceReferenceDate)
    case .limit: parameters.add(Int64(plan.limit))
    case .offset: parameters.add(Int64(plan.offset))
    }
  }

  private func _add(
    _ value: PredicateValue, _ conversion: ConstantConversion, _ type: PostgreSQLType,
    to parameters: inout PostgreSQLParameters
  ) throws {
    switch conversion {
    case .natural: try _add(value, type, to: &parameters)
    case .uuid:
      if case .string(let text) = value {
        guard let uuid = UUID(uuidString: text) else { return parameters.add(null: .uuid) }
        return _add(uuid, to: &parameters)
      }
      try _add(value, type, to: &parameters)
    case .transformed(let entity, let slot):
      guard let data = value.storedBytes(entity: entity, slot: slot, spaces) else {
        return parameters.add(null: .bytes)
      }
      parameters.add(bytes: data)
    case .key(let root): parameters.add(_key(value, root))
    case .entity: parameters.add(_entity(value))
    case .endOfPrefix:
      guard case .string(let text) = value else { return parameters.add(null: .text) }
      parameters.add(try _text(TextPattern.end(ofPrefix: text)))
    case .pattern(let operation, let options):
      guard case .string(let text) = value else { return parameters.add(null: .text) }
      parameters.add(try _pattern(text, operation, options))
    case .member(let index, let conversion):
      guard case .collection(let members) = value, index < members.count else {
        return parameters.add(null: type)
      }
      try _add(members[index], conversion, type, to: &parameters)
    case .members(let conversion): parameters.add(try _array(Self.members(of: value), conversion, type))
    }
  }

  private func _pattern(_ text: String, _ operation: StringOperation, _ options: UInt8) throws -> String {
    let options = PredicateTree.Comparison.Options(rawValue: UInt(options))
    if operation == .like { return try _text(TextPattern.expression(like: text, options)) }
    guard let expression = TextPattern.expression(matching: text) else {
      throw UntranslatableQueryError(
        entity: entityName, expression: "MATCHES",
        reason:
          "a part of the regular expression has no counterpart of the same meaning in PostgreSQL; use classes, "
          + "groups, alternatives and quantifiers, or fetch without it and filter the result")
    }
    return try _text(expression)
  }

  private func _add(_ uuid: UUID, to parameters: inout PostgreSQLParameters) {
    withUnsafeBytes(of: uuid.uuid) { parameters.add(uuid: $0) }
  }

  private func _add(
    _ value: PredicateValue, _ type: PostgreSQLType, to parameters: inout PostgreSQLParameters
  ) throws {
    switch value {
    case .null, .collection, .dictionary: parameters.add(null: type)
    case .bool(let flag): parameters.add(Int64(flag ? 1 : 0))
    case .int(let number): parameters.add(number)
    case .double(let number), .date(let number): parameters.add(number)
    case .decimal(let number): parameters.add(numeric: "\(number)")
    case .string(let text): parameters.add(try _text(text))
    case .url(let url): parameters.add(try _text(url.absoluteString))
    case .uuid(let uuid): _add(uuid, to: &parameters)
    case .data(let data): parameters.add(bytes: data)
    case .object(let object):
      parameters.add(object.objectID?.key?.reference ?? Self._noKey)
    }
  }

  /// Returns a text that the server accepts. A text with a zero byte equals none that is stored.
  private func _text(_ text: String) throws -> String {
    guard text.utf8.contains(0) else { return text }
    throw UntranslatableQueryError(
      entity: entityName, expression: "a constant",
      reason: "it holds a zero byte, which PostgreSQL has in no text")
  }

  private func _key(_ value: PredicateValue, _ root: Int) -> Int64 {
    guard case .object(let object) = value, let id = object.objectID, let key = id.key,
      key.space.layout.rootNumber == root, let own = spaces.first, key.space.store === own.store
    else { return Self._noKey }
    return key.reference
  }

  private func _entity(_ value: PredicateValue) -> Int64 {
    let number: Int?
    switch value {
    case .string(let name): number = spaces.firstIndex { $0.layout.entityName == name }
    case .object(let object):
      let entity = object.wrapped as? NSEntityDescription
      number = spaces.firstIndex { $0.entity === entity }
    default: number = nil
    }
    return number.map { Int64(numbers.stored(for: $0 + 1)) } ?? Self._noKey
  }

  // MARK: Collections

  /// Omits nil, which would make every "not in" unknown.
  private func _array(
    _ members: [PredicateValue], _ conversion: ConstantConversion, _ type: PostgreSQLType
  ) throws -> PostgreSQLArray {
    var array = PostgreSQLArray(type, capacity: members.count)
    for member in members where member != .null {
      switch conversion {
      case .key(let root): array.add(_key(member, root))
      case .entity: array.add(_entity(member))
      case .transformed(let entity, let slot):
        if let data = member.storedBytes(entity: entity, slot: slot, spaces) {
          data.withUnsafeBytes { array.add(bytes: $0) }
        }
      default: try _add(member, to: &array, type)
      }
    }
    return array
  }

  /// Adds a value that fits the array's type; any other value equals none in the column.
  private func _add(_ value: PredicateValue, to array: inout PostgreSQLArray, _ type: PostgreSQLType) throws {
    switch type {
    case .textArray:
      switch value {
      case .string(let text): array.add(try _text(text))
      case .url(let url): array.add(try _text(url.absoluteString))
      case .int(let number): array.add(String(number))
      case .bool(let flag): array.add(flag ? "1" : "0")
      case .double(let number): array.add("\(number)")
      default: break
      }
    case .uuidArray:
      let uuid: UUID? =
        switch value {
        case .uuid(let uuid): uuid
        case .string(let text): UUID(uuidString: text)
        default: nil
        }
      if let uuid { withUnsafeBytes(of: uuid.uuid) { array.add(bytes: $0) } }
    case .bytesArray: if case .data(let data) = value { data.withUnsafeBytes { array.add(bytes: $0) } }
    case .float8Array, .int8Array:
      switch value {
      case .int(let number): array.add(number)
      case .bool(let flag): array.add(Int64(flag ? 1 : 0))
      case .double(let number), .date(let number): array.add(number)
      case .object(let object):
        array.add(object.objectID?.key?.reference ?? Self._noKey)
      case .string(let text):
        if type == .int8Array {
          Int64(text).map { array.add($0) }
        } else {
          Double(text).map { array.add($0) }
        }
      default: break
      }
    case .numericArray:
      switch value {
      case .int(let number): array.add(numeric: String(number))
      case .bool(let flag): array.add(numeric: flag ? "1" : "0")
      case .double(let number), .date(let number): array.add(numeric: "\(number)")
      case .decimal(let number): array.add(numeric: "\(number)")
      default: break
      }
    default: break
    }
  }
}

import CoreDataModelSchema
import CoreDataPredicateLanguage
import CoreDataSQLiteBinding
import Foundation

/// Binds the values of one fetch to a statement compiled for its shape.
struct QueryBinder {
  private let _context: RowReader.Context
  /// Bound for an object that matches no row: unsaved, or of another store or table.
  private static let _noKey = Int64.min

  init(_ context: RowReader.Context) { _context = context }

  func bind(
    _ parameters: [QueryParameter], _ plan: FetchPlan, _ constants: [PredicateValue], to statement: Statement
  ) {
    var index: Int32 = 0
    for parameter in parameters {
      index += 1
      switch parameter {
      case .constant(let number, let conversion): _bind(constants[number], conversion, statement, index)
      case .constants(let numbers, let conversion):
        statement.bind(_array(.collection(numbers.map { constants[$0] }), conversion), at: index)
      case .now: statement.bind(Date().timeIntervalSinceReferenceDate, at: index)
      case .limit: statement.bind(Int64(plan.limit), at: index)
      case .offset: statement.bind(Int64(plan.offset), at: index)
      }
    }
  }

  /// Returns the bindings of `bind`, for display.
  func bindings(
    _ parameters: [QueryParameter], _ plan: FetchPlan, _ constants: [PredicateValue]
  ) -> [SQLBinding] {
    parameters.map { parameter in
      switch parameter {
      case .constant(let number, let conversion): _shown(constants[number], conversion)
      case .constants(let numbers, let conversion):
        .values(numbers.map { _shown(constants[$0], conversion) })
      case .now: .real(Date().timeIntervalSinceReferenceDate)
      case .limit: .integer(Int64(plan.limit))
      case .offset: .integer(Int64(plan.offset))
      }
    }
  }

  private func _shown(_ value: PredicateValue, _ conversion: ConstantConversion) -> SQLBinding {
    switch conversion {
    case .natural, .pattern: return SQLBinding(_binding(value))
    case .uuid:
      if case .string(let text) = value, let uuid = UUID(uuidString: text) {
        return SQLBinding(_binding(.uuid(uuid)))
      }
      return SQLBinding(_binding(value))
    case .transformed(let entity, let slot): return _bytes(value, entity, slot).map(SQLBinding.blob) ?? .null
    case .key(let root): return .integer(_key(value, root))
    case .entity: return .integer(_entity(value))
    case .endOfPrefix:
      guard case .string(let text) = value, !text.isEmpty else { return .null }
      var bytes = Array(text.utf8)
      bytes[bytes.count - 1] += 1
      return String(validating: bytes, as: UTF8.self).map(SQLBinding.text) ?? .blob(Data(bytes))
    case .member(let number, let conversion):
      guard case .collection(let members) = value, number < members.count else { return .null }
      return _shown(members[number], conversion)
    case .members(let conversion):
      switch value {
      case .collection(let members): return .values(members.map { _shown($0, conversion) })
      case .dictionary(let entries): return .values(entries.values.map { _shown($0, conversion) })
      default: return .values([])
      }
    }
  }

  private func _bind(
    _ value: PredicateValue, _ conversion: ConstantConversion, _ statement: Statement, _ index: Int32
  ) {
    switch conversion {
    case .natural, .pattern: _bindNaturally(value, statement, index)
    case .uuid:
      if case .string(let text) = value, let uuid = UUID(uuidString: text) {
        _bindNaturally(.uuid(uuid), statement, index)
      } else {
        _bindNaturally(value, statement, index)
      }
    case .transformed(let entity, let slot):
      guard let data = _bytes(value, entity, slot) else { return statement.bindNull(at: index) }
      data.withUnsafeBytes { statement.bind(blob: $0, at: index) }
    case .key(let root): statement.bind(_key(value, root), at: index)
    case .entity: statement.bind(_entity(value), at: index)
    case .endOfPrefix: _bindEnd(of: value, statement, index)
    case .member(let number, let conversion):
      guard case .collection(let members) = value, number < members.count else {
        return statement.bindNull(at: index)
      }
      _bind(members[number], conversion, statement, index)
    case .members(let conversion): statement.bind(_array(value, conversion), at: index)
    }
  }

  private func _bindNaturally(_ value: PredicateValue, _ statement: Statement, _ index: Int32) {
    switch value {
    case .string(let text): statement.bind(text, at: index)
    case .int(let number): statement.bind(number, at: index)
    case .double(let number), .date(let number): statement.bind(number, at: index)
    case .bool(let flag): statement.bind(Int64(flag ? 1 : 0), at: index)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { statement.bind(blob: $0, at: index) }
    case .data(let data): data.withUnsafeBytes { statement.bind(blob: $0, at: index) }
    case .null, .collection, .dictionary: statement.bindNull(at: index)
    default: statement.bind(_binding(value), at: index)
    }
  }

  private func _binding(_ value: PredicateValue) -> Binding {
    switch value {
    case .null, .collection, .dictionary: .null
    case .bool(let flag): .int(flag ? 1 : 0)
    case .int(let number): .int(number)
    case .double(let number), .date(let number): .double(number)
    case .decimal(let number): StoredDecimal.binding(number)
    case .string(let text): .text(text)
    case .data(let data): .blob([UInt8](data))
    case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
    case .url(let url): .text(url.absoluteString)
    case .object(let object):
      .int(object.objectID?.key?.reference ?? Self._noKey)
    }
  }

  private func _key(_ value: PredicateValue, _ root: Int) -> Int64 {
    guard case .object(let object) = value, let id = object.objectID, let key = id.key,
      key.space.layout.rootNumber == root, let own = _context.spaces.first, key.space.store === own.store
    else { return Self._noKey }
    return key.reference
  }

  /// Returns the bytes that a transformable attribute stores for a value; nil, which equals no row, if it
  /// cannot be encoded.
  private func _bytes(_ value: PredicateValue, _ entity: Int, _ slot: Int) -> Data? {
    value.storedBytes(entity: entity, slot: slot, _context.spaces)
  }

  private func _entity(_ value: PredicateValue) -> Int64 {
    let number: Int?
    switch value {
    case .string(let name): number = _context.mapping.layout.layoutsByName[name]?.entityNumber
    case .object(let object):
      let entity = object.wrapped as? NSEntityDescription
      number = _context.spaces.firstIndex { $0.entity === entity }.map { $0 + 1 }
    default: number = nil
    }
    return number.map { Int64(_context.numbers.stored(for: $0)) } ?? Self._noKey
  }

  /// Increments the last byte. UTF-8 has no byte 255, so this never overflows; comparing bytes does not
  /// require valid UTF-8.
  private func _bindEnd(of value: PredicateValue, _ statement: Statement, _ index: Int32) {
    guard case .string(let text) = value, !text.isEmpty else { return statement.bindNull(at: index) }
    var bytes = Array(text.utf8)
    bytes[bytes.count - 1] += 1
    bytes.withUnsafeBufferPointer { statement.bind(text: $0, at: index) }
  }

  // MARK: Collections

  private func _array(_ value: PredicateValue, _ conversion: ConstantConversion) -> ValueArray {
    let members: [PredicateValue]
    switch value {
    case .collection(let values): members = values
    case .dictionary(let values): members = Array(values.values)
    default: members = []
    }
    switch conversion {
    case .key(let root): return ValueArray(members.map { _key($0, root) })
    case .transformed(let entity, let slot):
      return ValueArray(members.compactMap { _bytes($0, entity, slot).map { Binding.blob([UInt8]($0)) } })
    case .entity: return ValueArray(members.map { _entity($0) })
    case .uuid:
      return ValueArray(
        members.compactMap { member -> Binding? in
          if case .string(let text) = member, let uuid = UUID(uuidString: text) {
            return _binding(.uuid(uuid))
          }
          return member == .null ? nil : _binding(member)
        })
    default: return _plainArray(members)
    }
  }

  private func _plainArray(_ members: [PredicateValue]) -> ValueArray {
    // Most collections contain only texts or only integers, which do not need a Binding for each value.
    if case .string = members.first,
      let texts = _all(members, { if case .string(let text) = $0 { text } else { nil } })
    {
      return ValueArray(texts)
    }
    if case .int = members.first,
      let numbers = _all(members, { if case .int(let number) = $0 { number } else { nil } })
    {
      return ValueArray(numbers)
    }
    // A NULL among the members would make every "not in" unknown.
    return ValueArray(members.compactMap { $0 == .null ? nil : _binding($0) })
  }

  private func _all<Member>(_ members: [PredicateValue], _ member: (PredicateValue) -> Member?) -> [Member]? {
    var result: [Member] = []
    result.reserveCapacity(members.count)
    for value in members {
      guard let value = member(value) else { return nil }
      result.append(value)
    }
    return result
  }
}

/// Decimals are stored as numbers, hence with the precision of a double.
enum StoredDecimal {
  static func binding(_ decimal: Decimal) -> Binding {
    let number = NSDecimalNumber(decimal: decimal)
    if decimal.isNaN { return .null }
    // Small integers are exact in both forms and cheaper to store.
    let integer = number.int64Value
    if Decimal(integer) == decimal { return .int(integer) }
    return .double(Double("\(decimal)") ?? number.doubleValue)
  }
}

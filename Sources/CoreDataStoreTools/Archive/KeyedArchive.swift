import Foundation

/// The objects of a keyed archive in a binary property list, read as data: no class is instantiated.
package struct KeyedArchive {
  package typealias Members = PropertyListTable.Members

  package let table: PropertyListTable
  /// Names and numbers of the archived roots; nil for a plain property list.
  package let roots: (names: Members, values: Members)?
  private let _objects: Members?
  private let _searchedFields: Int

  /// - Parameter searchedFields: Fields of an object that are searched for a name. Archives have few.
  package init(_ table: PropertyListTable, searchedFields: Int = 256) {
    self.table = table
    _searchedFields = searchedFields
    let plain = KeyedArchive(plain: table, searchedFields)
    guard case .dictionary(let keys, let values)? = table.object(table.top),
      let archiver = plain.value("$archiver", keys, values), case .string? = table.object(archiver),
      let objects = plain.value("$objects", keys, values), case .array(let members)? = table.object(objects),
      let top = plain.value("$top", keys, values), case .dictionary(let names, let found)? = table.object(top)
    else {
      (roots, _objects) = (nil, nil)
      return
    }
    roots = (names, found)
    _objects = members
  }

  private init(plain table: PropertyListTable, _ searchedFields: Int) {
    (self.table, roots, _objects, _searchedFields) = (table, nil, nil, searchedFields)
  }

  package var isKeyed: Bool { _objects != nil }

  /// Whether an object is the first of an archive, which stands for nil.
  package func isFirst(_ number: Int) -> Bool { _objects?[0] == number }

  /// Number of the object that a UID refers to; nil if it is missing, or another UID.
  package func target(_ index: Int) -> Int? {
    guard let target = _objects?[index], let object = table.object(target) else { return nil }
    if case .uid = object { return nil }
    return target
  }

  /// The object of a field: the one that it refers to, or itself.
  package func resolved(_ number: Int?) -> PropertyListTable.Object? {
    guard let number, let object = table.object(number) else { return nil }
    guard case .uid(let index) = object else { return object }
    return target(index).flatMap { table.object($0) }
  }

  package func string(_ number: Int?) -> String? {
    guard case .string(let text, _)? = resolved(number) else { return nil }
    return text
  }

  /// Number of the value of a key.
  package func value(_ key: String, _ keys: Members, _ values: Members) -> Int? {
    (0..<min(keys.count, _searchedFields)).first { string(keys[$0]) == key }.flatMap { values[$0] }
  }

  /// The name of an object's class; nil for what is no object.
  package func className(_ keys: Members, _ values: Members) -> String? {
    guard isKeyed, let field = value("$class", keys, values),
      case .dictionary(let names, let parts)? = resolved(field)
    else { return nil }
    return string(value("$classname", names, parts))
  }

  /// A decimal number by its mantissa, of 16-bit words, and its exponent.
  package func decimal(_ keys: Members, _ values: Members) -> String? {
    guard case .data(let bytes)? = resolved(value("NS.mantissa", keys, values)), bytes.count == 16,
      case .integer(let exponent)? = resolved(value("NS.exponent", keys, values)),
      let power = Int(exactly: exponent), (-128...127).contains(power),
      case .integer(let order)? = resolved(value("NS.mantissa.bo", keys, values))
    else { return nil }
    var isNegative = false
    if case .boolean(true)? = resolved(value("NS.negative", keys, values)) { isNegative = true }
    var mantissa = Decimal(0)
    for index in stride(from: bytes.endIndex - 2, through: bytes.startIndex, by: -2) {
      let (low, high) = order == 1 ? (bytes[index], bytes[index + 1]) : (bytes[index + 1], bytes[index])
      mantissa = mantissa * Decimal(65_536) + Decimal(Int(high) << 8 | Int(low))
    }
    guard !mantissa.isNaN else { return nil }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: power, significand: mantissa).description
  }
}

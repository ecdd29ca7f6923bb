import CoreDataCPostgreSQL

/// Types of parameters, by the server's OIDs.
package enum PostgreSQLType: UInt32, Sendable {
  case bool = 16
  case bytes = 17
  case int8 = 20
  case int2 = 21
  case int4 = 23
  case text = 25
  case float8 = 701
  case numeric = 1700
  case uuid = 2950
  case boolArray = 1000
  case bytesArray = 1001
  case int2Array = 1005
  case int4Array = 1007
  case textArray = 1009
  case int8Array = 1016
  case float8Array = 1022
  case numericArray = 1231
  case uuidArray = 2951
}

/// Parameters of one statement in binary form, consecutive in one buffer.
package struct PostgreSQLParameters: Sendable {
  private var _bytes: [UInt8] = []
  private var _places: [(offset: Int, count: Int)] = []
  private var _types: [UInt32] = []
  private var _formats: [Int32] = []

  package init() {}

  package var count: Int { _types.count }

  /// A type that the server derives from the statement.
  private static let _anyType: UInt32 = 0
  private static let _timestamp: UInt32 = 1184

  private mutating func _add(_ type: PostgreSQLType, isText: Bool = false, _ write: (inout [UInt8]) -> Void) {
    _add(number: type.rawValue, isText: isText, write)
  }

  private mutating func _add(number: UInt32, isText: Bool = false, _ write: (inout [UInt8]) -> Void) {
    let offset = _bytes.count
    write(&_bytes)
    _places.append((offset, _bytes.count - offset))
    // libpq requires a terminating zero byte, even for empty text.
    _bytes.append(0)
    _types.append(number)
    _formats.append(isText ? 0 : 1)
  }

  package mutating func add(null type: PostgreSQLType) {
    _places.append((0, -1))
    _types.append(type.rawValue)
    _formats.append(1)
  }

  package mutating func add(_ value: Bool) { _add(.bool) { $0.append(value ? 1 : 0) } }
  package mutating func add(_ value: Int64) { _add(.int8) { $0.appendBigEndian(value) } }
  package mutating func add(_ value: Int32) { _add(.int4) { $0.appendBigEndian(value) } }
  package mutating func add(_ value: Double) { _add(.float8) { $0.appendBigEndian(value.bitPattern) } }
  package mutating func add(_ value: String) { _add(.text) { $0.append(contentsOf: value.utf8) } }
  package mutating func add(bytes value: some Sequence<UInt8>) {
    _add(.bytes) { $0.append(contentsOf: value) }
  }
  package mutating func add(uuid value: some Sequence<UInt8>) { _add(.uuid) { $0.append(contentsOf: value) } }
  /// Adds a number given as text.
  package mutating func add(numeric value: String) {
    _add(.numeric, isText: true) { $0.append(contentsOf: value.utf8) }
  }

  /// Adds a text of whatever type the statement has in its place.
  package mutating func add(untyped value: String) {
    _add(number: Self._anyType, isText: true) { $0.append(contentsOf: value.utf8) }
  }
  /// Adds a moment, in microseconds since 2000-01-01 00:00 UTC.
  package mutating func add(moment value: Int64) {
    _add(number: Self._timestamp) { $0.appendBigEndian(value) }
  }
  /// Adds NULL of whatever type the statement has in its place.
  package mutating func addUntypedNull() {
    _places.append((0, -1))
    _types.append(Self._anyType)
    _formats.append(1)
  }

  /// Adds the parameters of another statement.
  package mutating func append(_ other: PostgreSQLParameters) {
    let offset = _bytes.count
    _bytes += other._bytes
    _places += other._places.map { ($0.offset + offset, $0.count) }
    _types += other._types
    _formats += other._formats
  }

  package mutating func add(_ values: PostgreSQLArray) {
    _add(values.type, isText: values.isText) { values.write(to: &$0) }
  }

  /// Calls `body` with the arrays that libpq takes.
  func withArrays<Result>(
    _ body: (
      Int32, UnsafePointer<Oid>?, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?,
      UnsafePointer<Int32>?
    ) throws -> Result
  ) rethrows -> Result {
    try _bytes.withUnsafeBytes { bytes in
      let values = _places.map { place -> UnsafePointer<CChar>? in
        place.count < 0 ? nil : (bytes.baseAddress! + place.offset).assumingMemoryBound(to: CChar.self)
      }
      let lengths = _places.map { Int32(max(0, $0.count)) }
      return try body(Int32(_types.count), _types, values, lengths, _formats)
    }
  }
}

/// Many values as one parameter.
///
/// Values are encoded as they are added: a save of ten thousand rows creates one array per column and no
/// object per value.
package struct PostgreSQLArray: PostgreSQLValueSink, Sendable {
  package let type: PostgreSQLType
  private var _bytes: [UInt8] = []
  private var _hasNull = false
  package private(set) var count = 0

  /// Creates an empty array; `type` is one whose name ends in `Array`.
  package init(_ type: PostgreSQLType, capacity: Int = 0) {
    self.type = type
    _bytes.reserveCapacity(capacity * 12)
  }

  // Arrays, since a generic initializer is not specialized for the sequences of another module.

  package init(_ values: [Int64]) {
    self.init(.int8Array, capacity: values.count)
    for value in values { add(value) }
  }

  package init(_ values: [String]) {
    self.init(.textArray)
    for value in values { add(value) }
  }

  /// Numbers of any size are sent as text.
  var isText: Bool { type == .numericArray }

  private var _element: UInt32 {
    switch type {
    case .boolArray: PostgreSQLType.bool.rawValue
    case .bytesArray: PostgreSQLType.bytes.rawValue
    case .int2Array: PostgreSQLType.int2.rawValue
    case .int4Array: PostgreSQLType.int4.rawValue
    case .int8Array: PostgreSQLType.int8.rawValue
    case .float8Array: PostgreSQLType.float8.rawValue
    case .uuidArray: PostgreSQLType.uuid.rawValue
    case .numericArray: PostgreSQLType.numeric.rawValue
    default: PostgreSQLType.text.rawValue
    }
  }

  package mutating func addNull() {
    count += 1
    _hasNull = true
    if isText { return _addText("NULL") }
    _bytes.appendBigEndian(Int32(-1))
  }

  /// Adds an integer, in the array's width.
  package mutating func add(_ value: Int64) {
    count += 1
    switch type {
    case .int2Array:
      _bytes.appendBigEndian(Int32(2))
      _bytes.appendBigEndian(Int16(truncatingIfNeeded: value))
    case .int4Array:
      _bytes.appendBigEndian(Int32(4))
      _bytes.appendBigEndian(Int32(truncatingIfNeeded: value))
    case .boolArray:
      _bytes.appendBigEndian(Int32(1))
      _bytes.append(value == 0 ? 0 : 1)
    case .float8Array: _addDouble(Double(value))
    case .numericArray: _addText(String(value))
    default:
      _bytes.appendBigEndian(Int32(8))
      _bytes.appendBigEndian(value)
    }
  }

  package mutating func add(_ value: Double) {
    count += 1
    _addDouble(value)
  }

  private mutating func _addDouble(_ value: Double) {
    _bytes.appendBigEndian(Int32(8))
    _bytes.appendBigEndian(value.bitPattern)
  }

  package mutating func add(_ value: String) {
    count += 1
    var value = value
    value.withUTF8 { text in
      _bytes.appendBigEndian(Int32(text.count))
      _bytes.append(contentsOf: text)
    }
  }

  package mutating func add(bytes: UnsafeRawBufferPointer) {
    count += 1
    _bytes.appendBigEndian(Int32(bytes.count))
    _bytes.append(contentsOf: bytes)
  }

  /// Adds a decimal number given as text.
  package mutating func add(numeric value: String) {
    count += 1
    _addText(value)
  }

  private mutating func _addText(_ value: String) {
    if !_bytes.isEmpty { _bytes.append(UInt8(ascii: ",")) }
    _bytes.append(contentsOf: value.utf8)
  }

  func write(to bytes: inout [UInt8]) {
    if isText {
      bytes.append(UInt8(ascii: "{"))
      bytes.append(contentsOf: _bytes)
      bytes.append(UInt8(ascii: "}"))
      return
    }
    bytes.appendBigEndian(Int32(count == 0 ? 0 : 1))
    bytes.appendBigEndian(Int32(_hasNull ? 1 : 0))
    bytes.appendBigEndian(_element)
    if count == 0 { return }
    bytes.appendBigEndian(Int32(count))
    bytes.appendBigEndian(Int32(1))
    bytes.append(contentsOf: _bytes)
  }
}

extension [UInt8] {
  @inline(__always)
  mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

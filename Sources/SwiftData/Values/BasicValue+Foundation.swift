import CoreData

extension Date: BasicValue {
  static var attributeType: NSAttributeType { .dateAttributeType }
  static var empty: Date { Date(timeIntervalSinceReferenceDate: 0) }
  static func placeholder(_ number: Int) -> Date {
    Date(timeIntervalSinceReferenceDate: Double(number) + 0.5)
  }
  var stored: Any { self }
  static func restored(_ stored: Any) -> Date? { stored as? Date }

  @inline(__always) static func read(_ object: NSManagedObject, _ slot: Int) -> Date? {
    object.double(at: slot).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  @inline(__always) static func write(_ value: Date?, _ object: NSManagedObject, _ slot: Int) {
    object.setDouble(value?.timeIntervalSinceReferenceDate, at: slot)
  }
}

extension Data: BasicValue {
  static var attributeType: NSAttributeType { .binaryDataAttributeType }
  static var empty: Data { Data() }
  static func placeholder(_ number: Int) -> Data { Data([UInt8(truncatingIfNeeded: number), 23]) }
  var stored: Any { self }
  static func restored(_ stored: Any) -> Data? { stored as? Data }
  static func read(_ object: NSManagedObject, _ slot: Int) -> Data? { object.data(at: slot) }
  static func write(_ value: Data?, _ object: NSManagedObject, _ slot: Int) {
    object.setData(value, at: slot)
  }
}

extension UUID: BasicValue {
  static var attributeType: NSAttributeType { .UUIDAttributeType }
  static var empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  static func placeholder(_ number: Int) -> UUID {
    UUID(uuid: (23, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number)))
  }

  var stored: Any { self }
  static func restored(_ stored: Any) -> UUID? { stored as? UUID }
  static func read(_ object: NSManagedObject, _ slot: Int) -> UUID? { object.uuid(at: slot) }
  static func write(_ value: UUID?, _ object: NSManagedObject, _ slot: Int) {
    object.setUUID(value, at: slot)
  }
}

extension URL: BasicValue {
  static var attributeType: NSAttributeType { .URIAttributeType }
  static var empty: URL { URL(string: "about:blank")! }
  static func placeholder(_ number: Int) -> URL { URL(string: "stand-in:\(number)")! }
  var stored: Any { self }
  static func restored(_ stored: Any) -> URL? { stored as? URL }
  static func read(_ object: NSManagedObject, _ slot: Int) -> URL? {
    object.string(at: slot).flatMap { URL(string: $0) }
  }

  static func write(_ value: URL?, _ object: NSManagedObject, _ slot: Int) {
    object.setString(value?.absoluteString, at: slot)
  }
}

extension Decimal: BasicValue {
  static var attributeType: NSAttributeType { .decimalAttributeType }
  static var empty: Decimal { 0 }
  static func placeholder(_ number: Int) -> Decimal { Decimal(number) + 3 }
  var stored: Any { self }
  static func restored(_ stored: Any) -> Decimal? { (stored as? NSDecimalNumber)?.decimalValue }
  static func read(_ object: NSManagedObject, _ slot: Int) -> Decimal? { object.decimal(at: slot) }

  static func write(_ value: Decimal?, _ object: NSManagedObject, _ slot: Int) {
    object.setDecimal(value, at: slot)
  }
}

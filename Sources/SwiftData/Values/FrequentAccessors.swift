import CoreData

// The types that most attributes have, bypassing `BasicValue`, whose calls are not specialized.

final class StringAccessor: BasicAccessor<String>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { StringAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .text(let value) = value { return object.setString(value, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> String {
    object.string(at: slot) ?? declared ?? ""
  }
  override func set(_ value: String, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setString(value, at: slot)
  }
}

final class OptionalStringAccessor: OptionalBasicAccessor<String>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { OptionalStringAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .text(let value) = value { return object.setString(value, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> String? {
    object.string(at: slot)
  }
  override func set(_ value: String?, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setString(value, at: slot)
  }
}

final class IntAccessor: BasicAccessor<Int>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { IntAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .whole(let value) = value { return object.setInteger(Int64(value), at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Int {
    object.integer(at: slot).map { Int($0) } ?? declared ?? 0
  }
  override func set(_ value: Int, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setInteger(Int64(value), at: slot)
  }
}

final class BoolAccessor: BasicAccessor<Bool>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { BoolAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .flag(let value) = value { return object.setInteger(value ? 1 : 0, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Bool {
    object.integer(at: slot).map { $0 != 0 } ?? declared ?? false
  }
  override func set(_ value: Bool, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setInteger(value ? 1 : 0, at: slot)
  }
}

final class DoubleAccessor: BasicAccessor<Double>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { DoubleAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .number(let value) = value { return object.setDouble(value, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Double {
    object.double(at: slot) ?? declared ?? 0
  }
  override func set(_ value: Double, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setDouble(value, at: slot)
  }
}

final class DateAccessor: BasicAccessor<Date>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { DateAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .date(let value) = value { return object.setDouble(value, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Date {
    object.double(at: slot).map { Date(timeIntervalSinceReferenceDate: $0) } ?? declared ?? .empty
  }
  override func set(_ value: Date, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setDouble(value.timeIntervalSinceReferenceDate, at: slot)
  }
}

final class OptionalDateAccessor: OptionalBasicAccessor<Date>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { OptionalDateAccessor(name) }
  override func fill(_ value: DetachedValue, _ object: NSManagedObject, _ storage: ModelStorage) {
    if case .date(let value) = value { return object.setDouble(value, at: slot) }
    super.fill(value, object, storage)
  }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> Date? {
    object.double(at: slot).map { Date(timeIntervalSinceReferenceDate: $0) }
  }
  override func set(_ value: Date?, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setDouble(value?.timeIntervalSinceReferenceDate, at: slot)
  }
}

final class UUIDAccessor: BasicAccessor<UUID>, @unchecked Sendable {
  override func copy() -> PropertyAccessor { UUIDAccessor(name) }
  override func value(_ object: NSManagedObject, _ storage: ModelStorage) -> UUID {
    object.uuid(at: slot) ?? declared ?? .empty
  }
  override func set(_ value: UUID, _ object: NSManagedObject, _ storage: ModelStorage) {
    object.setUUID(value, at: slot)
  }
}

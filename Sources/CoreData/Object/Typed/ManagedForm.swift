import CoreDataModelSchema
import Foundation

/// The Swift types of properties that are read from and written to a `Row` without conversion.
enum ManagedForm: Sendable {
  case bool, int16, int32, int64, float, double, string, date, data, uuid, url, decimal
  case toOne, toMany, orderedToMany
  /// Any other type; accessed by `value(forKey:)` and `setValue(_:forKey:)`.
  case other

  init<Value>(_ type: Value.Type) {
    switch ObjectIdentifier(type) {
    case ObjectIdentifier(Bool.self): self = .bool
    case ObjectIdentifier(Int16.self): self = .int16
    case ObjectIdentifier(Int32.self): self = .int32
    case ObjectIdentifier(Int64.self), ObjectIdentifier(Int.self): self = .int64
    case ObjectIdentifier(Float.self): self = .float
    case ObjectIdentifier(Double.self): self = .double
    case ObjectIdentifier(String.self), ObjectIdentifier(String?.self): self = .string
    case ObjectIdentifier(Date.self), ObjectIdentifier(Date?.self): self = .date
    case ObjectIdentifier(Data.self), ObjectIdentifier(Data?.self): self = .data
    case ObjectIdentifier(UUID.self), ObjectIdentifier(UUID?.self): self = .uuid
    case ObjectIdentifier(URL.self), ObjectIdentifier(URL?.self): self = .url
    case ObjectIdentifier(Decimal.self), ObjectIdentifier(Decimal?.self),
      ObjectIdentifier(NSDecimalNumber.self), ObjectIdentifier(NSDecimalNumber?.self):
      self = .decimal
    case ObjectIdentifier(NSSet.self), ObjectIdentifier(NSSet?.self), ObjectIdentifier(NSMutableSet.self),
      ObjectIdentifier(NSMutableSet?.self):
      self = .toMany
    case ObjectIdentifier(NSOrderedSet.self), ObjectIdentifier(NSOrderedSet?.self),
      ObjectIdentifier(NSMutableOrderedSet.self), ObjectIdentifier(NSMutableOrderedSet?.self):
      self = .orderedToMany
    default:
      if type is any OptionalObject.Type || type is NSManagedObject.Type {
        self = .toOne
      } else if type is any ObjectSet.Type {
        self = .toMany
      } else {
        self = .other
      }
    }
  }

  /// Whether a slot's values have this representation.
  func fits(_ slot: PropertyLayout.Slot) -> Bool {
    switch self {
    case .bool: slot.type == .boolean
    case .int16: slot.type == .integer16
    case .int32: slot.type == .integer32
    case .int64: slot.type == .integer64
    case .float: slot.type == .float
    case .double: slot.type == .double
    case .string: slot.type == .string
    case .date: slot.type == .date
    case .data: slot.type == .binaryData
    case .uuid: slot.type == .uuid
    case .url: slot.type == .uri
    case .decimal: slot.type == .decimal
    case .toOne: slot.isToOne
    case .toMany: slot.isToMany
    case .orderedToMany: slot.isToMany && slot.relationship?.isOrdered == true
    case .other: false
    }
  }
}

/// An optional managed object.
private protocol OptionalObject {}
extension Optional: OptionalObject where Wrapped: NSManagedObject {}

/// A set of managed objects, optional or not.
private protocol ObjectSet {}
extension Set: ObjectSet where Element: NSManagedObject {}
extension Optional: ObjectSet where Wrapped: ObjectSet {}

import CoreData

/// A type of attributes that generated accessors read and write without generic code: each call goes to the type's own
/// functions, which find the value at the attribute's index.
///
/// A type that conforms needs no overloads of `_ModelValues`. Not for direct use.
public protocol _FrequentValue: Codable {
  /// Returns the value of an attribute; nil if it has none or the model isn't inserted.
  static func _value(_ storage: _ModelStorage, _ index: Int) -> Self?
  /// Returns the value of an optional attribute; nil if the model isn't inserted.
  static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Self??
  /// Sets an attribute; false if the model isn't inserted.
  static func _set(_ value: Self?, _ storage: _ModelStorage, _ index: Int) -> Bool
  /// Initializes an attribute; false if the model is inserted, or has backing data of another kind.
  func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool
}

extension String: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> String? {
    storage.withObject(index) { $0.string(at: $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> String?? {
    storage.withObject(index) { $0.string(at: $1) }
  }

  public static func _set(_ value: String?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { $0.setString(value, at: $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .text(self))
  }
}

extension Int: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Int? {
    (storage.withObject(index) { $0.integer(at: $1) } ?? nil).map { Int($0) }
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Int?? {
    storage.withObject(index) { $0.integer(at: $1).map { Int($0) } }
  }

  public static func _set(_ value: Int?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { $0.setInteger(value.map { Int64($0) }, at: $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .whole(self))
  }
}

extension Double: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Double? {
    storage.withObject(index) { $0.double(at: $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Double?? {
    storage.withObject(index) { $0.double(at: $1) }
  }

  public static func _set(_ value: Double?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { $0.setDouble(value, at: $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .number(self))
  }
}

extension Bool: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Bool? {
    (storage.withObject(index) { $0.integer(at: $1) } ?? nil).map { $0 != 0 }
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Bool?? {
    storage.withObject(index) { $0.integer(at: $1).map { $0 != 0 } }
  }

  public static func _set(_ value: Bool?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { $0.setInteger(value.map { $0 ? 1 : 0 }, at: $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .flag(self))
  }
}

extension Date: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Date? {
    (storage.withObject(index) { $0.double(at: $1) } ?? nil).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Date?? {
    storage.withObject(index) { $0.double(at: $1).map { Date(timeIntervalSinceReferenceDate: $0) } }
  }

  public static func _set(_ value: Date?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { $0.setDouble(value?.timeIntervalSinceReferenceDate, at: $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .date(timeIntervalSinceReferenceDate))
  }
}

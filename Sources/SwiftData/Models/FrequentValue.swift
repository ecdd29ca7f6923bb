import CoreData

/// A type of attributes that generated accessors read and write without generic code: each call goes to the type's own
/// functions, which find the value at the attribute's index.
///
/// A type that conforms needs no overloads of `_ModelValues`. Not for direct use.
public protocol _FrequentValue: Codable {
  /// Returns the value of an attribute; nil if it has none or the model isn't inserted.
  static func _value(_ storage: _ModelStorage, _ index: Int) -> Self?
  /// Returns the value of an optional attribute; nil if the model isn't inserted. Apart from the other, whose result
  /// takes fewer instructions to look at.
  static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Self??
  /// Sets an attribute; false if the model isn't inserted.
  static func _set(_ value: Self?, _ storage: _ModelStorage, _ index: Int) -> Bool
  /// Initializes an attribute; false if the model is inserted, or has backing data of another kind.
  func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool
}

extension String: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> String? {
    storage.withObject(index) { read($0, $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> String?? {
    storage.withObject(index) { read($0, $1) }
  }

  public static func _set(_ value: String?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { write(value, $0, $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .text(self))
  }
}

extension Int: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Int? {
    storage.withObject(index) { read($0, $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Int?? {
    storage.withObject(index) { read($0, $1) }
  }

  public static func _set(_ value: Int?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { write(value, $0, $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .whole(self))
  }
}

extension Double: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Double? {
    storage.withObject(index) { read($0, $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Double?? {
    storage.withObject(index) { read($0, $1) }
  }

  public static func _set(_ value: Double?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { write(value, $0, $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .number(self))
  }
}

extension Bool: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Bool? {
    storage.withObject(index) { read($0, $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Bool?? {
    storage.withObject(index) { read($0, $1) }
  }

  public static func _set(_ value: Bool?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { write(value, $0, $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .flag(self))
  }
}

extension Date: _FrequentValue {
  public static func _value(_ storage: _ModelStorage, _ index: Int) -> Date? {
    storage.withObject(index) { read($0, $1) } ?? nil
  }

  public static func _valueIfAny(_ storage: _ModelStorage, _ index: Int) -> Date?? {
    storage.withObject(index) { read($0, $1) }
  }

  public static func _set(_ value: Date?, _ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.changeObject(index) { write(value, $0, $1) }
  }

  public func _begin(_ storage: _ModelStorage, _ index: Int) -> Bool {
    storage.beginIfNew(index, .date(timeIntervalSinceReferenceDate))
  }
}

import CoreData

// The properties of frequent types, without generic code: the generated accessors call these.

extension _ModelStorage {
  // MARK: String

  /// The value of a property; nil if it has none or the model isn't inserted.
  public final func _text(_ index: Int) -> String? {
    (withObject(index) { $0.string(at: $1) } ?? nil).map { $0 }
  }

  /// The value of an optional property; nil if the model isn't inserted.
  public final func _textIfAny(_ index: Int) -> String?? {
    withObject(index) { $0.string(at: $1).map { $0 } }
  }

  /// Sets a property; false if the model isn't inserted.
  public final func _setText(_ value: String?, _ index: Int) -> Bool {
    changeObject(index) { $0.setString(value.map { $0 }, at: $1) }
  }

  /// Initializes a property.
  public final func _beginText(_ value: String, _ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, .text(value))
    return true
  }

  // MARK: Int

  /// The value of a property; nil if it has none or the model isn't inserted.
  public final func _whole(_ index: Int) -> Int? {
    (withObject(index) { $0.integer(at: $1) } ?? nil).map { Int($0) }
  }

  /// The value of an optional property; nil if the model isn't inserted.
  public final func _wholeIfAny(_ index: Int) -> Int?? {
    withObject(index) { $0.integer(at: $1).map { Int($0) } }
  }

  /// Sets a property; false if the model isn't inserted.
  public final func _setWhole(_ value: Int?, _ index: Int) -> Bool {
    changeObject(index) { $0.setInteger(value.map { Int64($0) }, at: $1) }
  }

  /// Initializes a property.
  public final func _beginWhole(_ value: Int, _ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, .whole(value))
    return true
  }

  // MARK: Double

  /// The value of a property; nil if it has none or the model isn't inserted.
  public final func _number(_ index: Int) -> Double? {
    (withObject(index) { $0.double(at: $1) } ?? nil).map { $0 }
  }

  /// The value of an optional property; nil if the model isn't inserted.
  public final func _numberIfAny(_ index: Int) -> Double?? {
    withObject(index) { $0.double(at: $1).map { $0 } }
  }

  /// Sets a property; false if the model isn't inserted.
  public final func _setNumber(_ value: Double?, _ index: Int) -> Bool {
    changeObject(index) { $0.setDouble(value.map { $0 }, at: $1) }
  }

  /// Initializes a property.
  public final func _beginNumber(_ value: Double, _ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, .number(value))
    return true
  }

  // MARK: Bool

  /// The value of a property; nil if it has none or the model isn't inserted.
  public final func _flag(_ index: Int) -> Bool? {
    (withObject(index) { $0.integer(at: $1) } ?? nil).map { $0 != 0 }
  }

  /// The value of an optional property; nil if the model isn't inserted.
  public final func _flagIfAny(_ index: Int) -> Bool?? {
    withObject(index) { $0.integer(at: $1).map { $0 != 0 } }
  }

  /// Sets a property; false if the model isn't inserted.
  public final func _setFlag(_ value: Bool?, _ index: Int) -> Bool {
    changeObject(index) { $0.setInteger(value.map { $0 ? 1 : 0 }, at: $1) }
  }

  /// Initializes a property.
  public final func _beginFlag(_ value: Bool, _ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, .flag(value))
    return true
  }

  // MARK: Date

  /// The value of a property; nil if it has none or the model isn't inserted.
  public final func _date(_ index: Int) -> Date? {
    (withObject(index) { $0.double(at: $1) } ?? nil).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// The value of an optional property; nil if the model isn't inserted.
  public final func _dateIfAny(_ index: Int) -> Date?? {
    withObject(index) { $0.double(at: $1).map { Date(timeIntervalSinceReferenceDate: $0) } }
  }

  /// Sets a property; false if the model isn't inserted.
  public final func _setDate(_ value: Date?, _ index: Int) -> Bool {
    changeObject(index) { $0.setDouble(value.map { $0.timeIntervalSinceReferenceDate }, at: $1) }
  }

  /// Initializes a property.
  public final func _beginDate(_ value: Date, _ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    begin(index, .date(value.timeIntervalSinceReferenceDate))
    return true
  }

  // MARK: No value

  /// Initializes an optional property or a to-many relationship without a value.
  public final func _beginNone(_ index: Int) -> Bool {
    if isBound || foreign != nil { return false }
    if index < detachedCount { begin(index, .none) }
    return true
  }

  // MARK: Relationships

  /// Sets a to-one relationship to a model of the same context, or to nil; false if either belongs to no
  /// context.
  public final func _setTarget(_ target: _ModelStorage?, _ index: Int) -> Bool {
    guard let target else { return changeObject(index) { $0.setTarget(nil, at: $1) } }
    guard let object = target.object, target.link === link, link?.context != nil else { return false }
    return changeObject(index) { $0.setTarget(object, at: $1) }
  }

  /// The model at the other end; nil if the model isn't inserted.
  public final func _modelIfAny(_ index: Int) -> AnyObject?? {
    withObject(index) { $0.target(at: $1).map { related($0) } }
  }

  /// The models at the other end; nil if the model isn't inserted.
  public final func _models(_ index: Int) -> [AnyObject]? {
    withObject(index) { $0.memberList(at: $1).map { related($0) } }
  }

  /// Whether the instance is being created for a stored model, so that initial values don't count.
  @inlinable public final var _isBeingShown: Bool { flags.rawValue & Flags.beingShown.rawValue != 0 }

  // MARK: Without context

  /// Sets the instance that has this storage, for its observers.
  final func introduce(_ model: AnyObject) { if !hasInstance { setInstance(model) } }
}

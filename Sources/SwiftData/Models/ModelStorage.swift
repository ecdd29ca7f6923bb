import CoreData

/// The storage of one model's values: an object of the engine, or the values themselves until the model is inserted.
///
/// Written by generated code; not for direct use. Used where the model is used. A model that a context fetches has
/// the context's own object as its storage, so that showing it allocates nothing but the instance. A model that the
/// program creates keeps its values in a storage without a context, which refers to an object from its insertion
/// on. A model of a subclass has one storage per class until it is inserted; then all of them share the same object.
public final class _ModelStorage: NSManagedObject {
  // Classes and plans live as long as the process.
  @exclusivity(unchecked) private final unowned(unsafe) var _modelClass: ModelClass?
  @exclusivity(unchecked) private final unowned(unsafe) var _plan: AccessPlan? {
    didSet { _slots = _plan?.slots }
  }
  @exclusivity(unchecked) private final var _slots: UnsafePointer<Int>?
  /// The engine's object: this one if a context fetched it, the retained one otherwise.
  @exclusivity(unchecked) private final var _object: Unmanaged<_ModelStorage>?
  /// The engine's object if it is not this one.
  @exclusivity(unchecked) private final var _retainedObject: _ModelStorage?
  /// The storage that refers to this object; cleared by that storage's deinit.
  @exclusivity(unchecked) private final unowned(unsafe) var _referrer: _ModelStorage?
  /// The context's link. Not retained by an object of the context, which the link keeps alive: the instance that shows
  /// the object retains it instead. Otherwise context, objects and link would keep each other.
  @exclusivity(unchecked) private(set) final unowned(unsafe) var link: ContextLink?
  /// The link, if this storage belongs to no context itself.
  @exclusivity(unchecked) private final var _retainedLink: ContextLink?
  @exclusivity(unchecked) private final var _model = UnownedReference()
  /// The same instance as `model`, retained while it has unsaved changes.
  @exclusivity(unchecked) private(set) final var keptModel: AnyObject?
  @exclusivity(unchecked) @usableFromInline final var flags: Flags = []
  /// Values by the property's index, until the model is inserted.
  @exclusivity(unchecked) private final var _values: [DetachedValue] = []
  /// Rarely used members.
  private final var _extras: Extras?

  @usableFromInline struct Flags: OptionSet, Sendable {
    @usableFromInline let rawValue: UInt8

    @inlinable init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The instance is retained for its unsaved changes.
    static let kept = Flags(rawValue: 1)
    /// The instance is being created: the initial values that its properties receive are not those of a
    /// stored model.
    @inlinable static var beingShown: Flags { Flags(rawValue: 2) }
    /// Observers have a registrar of the storage's own.
    static let registered = Flags(rawValue: 4)
    /// The values are in backing data of another kind.
    static let foreign = Flags(rawValue: 8)
  }

  private final class Extras {
    /// JSON that was decoded last, by slot.
    var decoded: [Int: (data: Data, value: Any)] = [:]
    /// Arbitrary data that the client attaches to the backing data.
    var metadata: Any?
    /// Records the reads of a model on which a key path is evaluated, and the path that leads to it.
    var recording: (KeyPathRecording, [String])?
    /// The identity before the first save, or of a model that belongs to no context.
    var identifier: PersistentIdentifier?
    /// Observers of a model that belongs to no context.
    var registrar: ObservationRegistrar?
    /// Backing data of another kind, with the values.
    var foreign: Any?
  }

  /// Creates the storage of a model that belongs to no context.
  convenience init(_ modelClass: ModelClass) {
    self.init(entity: .missing, insertInto: nil)
    _modelClass = modelClass
  }

  deinit {
    _refer(to: nil)
    _model.release()
  }

  // MARK: Object

  /// The model's class.
  final var modelClass: ModelClass { _modelClass.unsafelyUnwrapped }

  /// The engine's object; nil until the model is inserted.
  final var object: _ModelStorage? { _object?._withUnsafeGuaranteedRef { $0 } }

  /// The storage with this object's model; nil if no model shows the object.
  final var storage: _ModelStorage? { _referrer ?? (_object == nil ? nil : self) }

  /// The model of this object; nil if none shows it.
  @inline(__always) final var shownInstance: AnyObject? {
    _referrer.map { $0.instance } ?? instance
  }

  /// Makes this object the storage of its own model, about to be created.
  final func showItself(_ modelClass: ModelClass, _ plan: AccessPlan, _ link: ContextLink) {
    _modelClass = modelClass
    _plan = plan
    _object = Unmanaged.passUnretained(self)
    // They belong to an earlier instance, which has been released.
    _extras = nil
    self.link = link
    flags = .beingShown
  }

  /// Refers to the context of another object than this one.
  private final func _join(_ link: ContextLink?) {
    _retainedLink = link
    self.link = link
  }

  private final func _refer(to object: _ModelStorage?) {
    if let _retainedObject, _retainedObject._referrer === self { _retainedObject._referrer = nil }
    _retainedObject = object === self ? nil : object
    _object = object.map { Unmanaged.passUnretained($0) }
  }

  private final var _ensuredExtras: Extras {
    if let _extras { return _extras }
    let made = Extras()
    _extras = made
    return made
  }

  /// Whether the engine has the values.
  final var isBound: Bool { _object != nil }

  /// The instance that shows these values.
  final var model: (any PersistentModel)? { _model.object.map { $0 as! any PersistentModel } }

  /// The instance with this storage, untyped.
  @inline(__always) final var instance: AnyObject? { _model.object }

  /// Whether the instance with this storage is known.
  final var hasInstance: Bool { _model.isSet }

  /// Sets the instance with this storage.
  @inline(__always) final func setInstance(_ model: AnyObject) { _model.set(model) }

  final var decoded: [Int: (data: Data, value: Any)] {
    get { _extras?.decoded ?? [:] }
    set { _ensuredExtras.decoded = newValue }
  }

  final var metadata: Any? {
    get { _extras?.metadata }
    set { _ensuredExtras.metadata = newValue }
  }

  final var recording: (KeyPathRecording, [String])? {
    get { _extras?.recording }
    set { _ensuredExtras.recording = newValue }
  }

  /// Backing data of another kind than the module's, with the values.
  final var foreign: Any? { flags.contains(.foreign) ? _extras?.foreign : nil }

  /// Registrar for observers of the model while it belongs to no context; created on demand.
  final var registrar: ObservationRegistrar {
    if let known = _extras?.registrar { return known }
    let made = ObservationRegistrar()
    _ensuredExtras.registrar = made
    flags.insert(.registered)
    return made
  }

  /// What an instance that shows this object retains, so that the object stays readable.
  @usableFromInline final var _anchor: AnyObject? { link }

  // MARK: Hot paths

  /// Calls a closure with the engine's object and the slot of a property; nil without an object.
  @inline(__always) final func withObject<Result>(
    _ index: Int, _ body: (_ModelStorage, Int) -> Result
  ) -> Result? {
    guard let _slots, let _object else { return nil }
    return _object._withUnsafeGuaranteedRef { body($0, _slots[index]) }
  }

  /// As `withObject`, for a change.
  @inline(__always) final func changeObject(_ index: Int, _ body: (_ModelStorage, Int) -> Void) -> Bool {
    guard let _slots, let _object else { return false }
    if flags != .kept, !_prepareChange(index) { return true }
    _object._withUnsafeGuaranteedRef { body($0, _slots[index]) }
    return true
  }

  /// Whether a property may be changed now. Retains the model and notifies the observers.
  @inline(never) private final func _prepareChange(_ index: Int) -> Bool {
    if flags.contains(.beingShown) { return false }
    if flags.contains(.registered) { _tellRegistered(index) }
    if flags.contains(.kept) { return true }
    if let link {
      if let context = link.context { context.keep(self) } else { _tellOrphaned() }
    }
    return true
  }

  /// Logs that a change is never saved.
  private final func _tellOrphaned() {
    Console.warnOnce(
      about: "orphaned \(modelClass.name)",
      "a \(modelClass.name) was changed whose context is gone: the change shows, but is never saved. Keep the context as "
        + "long as its models are changed.")
  }

  /// Sets a value before the model is inserted.
  @inline(__always) final func begin(_ index: Int, _ value: DetachedValue) {
    if _values.isEmpty { _values = Array(repeating: .none, count: modelClass.accessors.count) }
    _values[index] = value
  }

  /// Whether all properties have values that must have one, as after a whole initializer.
  final var isComplete: Bool {
    modelClass.accessors.enumerated().allSatisfy { index, accessor in
      if accessor.isOptional || accessor.isToMany || modelClass.constants.contains(index) { return true }
      if case .none = detached(index) { return false }
      return true
    }
  }

  /// Number of values in the storage itself.
  @inline(__always) final var detachedCount: Int { _values.count }

  /// The value before the model is inserted.
  @inline(__always) final func detached(_ index: Int) -> DetachedValue {
    index < _values.count ? _values[index] : .none
  }

  // MARK: Values

  /// The value of a property by index.
  final func value<Value>(_ index: Int) -> Value {
    guard let object, let plan = _plan else { return _detachedValue(index) }
    return unsafeDowncast(plan.accessors[index], to: ValueAccessor<Value>.self).value(object, self)
  }

  /// The value of a property.
  final func value<Model, Value>(_ keyPath: KeyPath<Model, Value>) -> Value {
    value(modelClass.index(of: keyPath))
  }

  /// Sets a property by index.
  final func set<Value>(_ index: Int, to value: Value) {
    guard let object, let plan = _plan else {
      if flags.contains(.registered) { _tellRegistered(index) }
      return begin(index, .other(DetachedBox(value)))
    }
    if flags != .kept, !_prepareChange(index) { return }
    unsafeDowncast(plan.accessors[index], to: ValueAccessor<Value>.self).set(value, object, self)
  }

  /// Sets a property.
  final func set<Model, Value>(_ keyPath: KeyPath<Model, Value>, to value: Value) {
    set(modelClass.index(of: keyPath), to: value)
  }

  private final func _detachedValue<Value>(_ index: Int) -> Value {
    let accessor = unsafeDowncast(modelClass.accessors[index], to: ValueAccessor<Value>.self)
    if let (recording, path) = recording { return recording.value(of: accessor, at: path) }
    _recordDetachedRead(index)
    if let value = detached(index).any { return value as! Value }
    return accessor.absent(modelClass.name)
  }

  /// The value of a property by index, untyped.
  final func anyValue(_ index: Int) -> Any? {
    if let object, let plan = _plan { return plan.accessors[index].any(object, self) }
    return detached(index).any
  }

  /// Sets a property by index, to a value of its type.
  final func setAny(_ index: Int, to value: Any) {
    guard let object, let plan = _plan else { return begin(index, .other(DetachedBox(value))) }
    if flags != .kept, !_prepareChange(index) { return }
    plan.accessors[index].setAny(value, object, self)
  }

  /// Sets a relationship by index to objects of the same context.
  final func setTargets(_ index: Int, to targets: [NSManagedObject]) {
    guard let object, let plan = _plan else { return }
    let accessor = plan.accessors[index]
    if accessor.isToMany {
      object.setMemberList(targets, at: accessor.slot)
    } else {
      object.setTarget(targets.first, at: accessor.slot)
    }
  }

  /// Sets the properties to the values that the model had before it was inserted.
  final func fill(with values: [DetachedValue]) {
    guard let object, let plan = _plan else { return }
    for (index, value) in values.enumerated() {
      if case .none = value { continue }
      plan.accessors[index].fill(value, object, self)
    }
  }

  // MARK: Observers

  /// Records that a property of a model without context is read.
  private final func _recordDetachedRead(_ index: Int) {
    guard NSManagedObject.isTrackingReads, let instance = _model.object else { return }
    registrar.access(instance, at: modelClass.properties[index].keypath)
  }

  /// Notifies the observers of a property from before the model was inserted.
  private final func _tellRegistered(_ index: Int) {
    guard let instance = _model.object, let registrar = _extras?.registrar else { return }
    registrar.tellChange(of: instance, at: modelClass.properties[index].keypath)
  }

  // MARK: Parts

  /// Adopts the values of another storage where this one has none.
  final func adoptValues(from other: _ModelStorage) {
    if let foreign = other.foreign { show(foreign: foreign) }
    for (index, value) in other._values.enumerated() {
      if case .none = value { continue }
      guard let own = modelClass.indexByName[other.modelClass.properties[index].name] else { continue }
      if own < _values.count, case .none = _values[own] {} else if own < _values.count { continue }
      begin(own, value)
    }
    guard let theirs = other._extras else { return }
    if theirs.identifier != nil, _extras?.identifier == nil { _ensuredExtras.identifier = theirs.identifier }
    if theirs.metadata != nil, _extras?.metadata == nil { _ensuredExtras.metadata = theirs.metadata }
    if theirs.recording != nil, _extras?.recording == nil { _ensuredExtras.recording = theirs.recording }
  }

  /// Adopts the object of another storage, or a copy of its values.
  final func show(_ other: _ModelStorage) {
    guard other !== self else { return }
    if other.modelClass !== modelClass { become(other.modelClass) }
    _values = []
    adoptValues(from: other)
    _refer(to: other.object)
    _join(other.link)
    _plan = other._plan
  }

  /// Shows backing data of another kind.
  final func show(foreign: Any) {
    _ensuredExtras.foreign = foreign
    flags.insert(.foreign)
  }

  /// Switches to a subclass, whose properties start with those of this class.
  final func become(_ subclass: ModelClass) {
    _modelClass = subclass
    guard !_values.isEmpty else { return }
    _values += Array(repeating: .none, count: max(0, subclass.accessors.count - _values.count))
  }

  // MARK: Binding

  /// Moves the values to the engine's object, which has none yet.
  ///
  /// - Returns: The values so far, by index.
  @discardableResult
  final func bind(to object: _ModelStorage, _ binding: EntityBinding, _ link: ContextLink) -> [DetachedValue]
  {
    let values = _values
    _values = []
    _refer(to: object)
    object._referrer = self
    _plan = binding.plan(of: modelClass)
    _join(link)
    return values
  }

  /// Refers to the object that has the values of this one's since a save merged both. Another instance may show it, too.
  ///
  /// - Returns: False if the object is not of the model's class.
  final func follow(_ object: _ModelStorage, _ binding: EntityBinding, _ link: ContextLink) -> Bool {
    guard binding.modelClass === modelClass || binding.modelClass.inherits(from: modelClass) else {
      return false
    }
    _refer(to: object)
    if object.shownInstance == nil { object._referrer = self }
    _plan = binding.plan(of: modelClass)
    _extras?.decoded = [:]
    _join(link)
    return true
  }

  /// The values by index, as a model that belongs to no context has them.
  ///
  /// - Parameter isAlone: Whether to leave relationships out.
  final func values(alone isAlone: Bool = false) -> [DetachedValue] {
    guard let object, let plan = _plan else { return _values }
    return plan.accessors.map { accessor in
      isAlone && accessor.destination != nil ? .none : .other(DetachedBox(accessor.any(object, self)))
    }
  }

  /// Moves the values back into the storage, as after a rollback of the insertion.
  final func unbind(keeping values: [DetachedValue]) {
    _refer(to: nil)
    _plan = nil
    _join(nil)
    _values = values
    _extras?.decoded = [:]
    _extras?.identifier = nil
  }

  /// Detaches from the context after the deletion was saved.
  final func leaveContext() {
    if let parts = object?.identityParts { _ensuredExtras.identifier = PersistentIdentifier(parts) }
    _join(nil)
  }

  /// Retains the instance while it has unsaved changes.
  ///
  /// - Returns: Whether it was not retained before.
  final func keepInstance() -> Bool {
    guard !flags.contains(.kept), let instance = _model.object else { return false }
    keptModel = instance
    flags.insert(.kept)
    return true
  }

  /// Releases the instance.
  final func releaseInstance() {
    flags.remove(.kept)
    keptModel = nil
  }

  // MARK: Identity and state

  final var identifier: PersistentIdentifier {
    if let object, let parts = object.identityParts { return PersistentIdentifier(parts) }
    if let known = _extras?.identifier { return known }
    let made = PersistentIdentifier(temporaryFor: modelClass.name)
    _ensuredExtras.identifier = made
    return made
  }

  final func setIdentifier(_ identifier: PersistentIdentifier) { _ensuredExtras.identifier = identifier }

  /// The temporary identity, even if there is a permanent one.
  final var temporaryIdentifier: PersistentIdentifier? {
    _extras?.identifier.flatMap { $0.isTemporary ? $0 : nil }
  }

  final var modelContext: ModelContext? {
    // Another context may have deleted the object, or another instance of this one.
    guard let context = link?.context, let object, object.managedObjectContext === context.managed else {
      return nil
    }
    return context
  }
  final var modelHasChanges: Bool { link != nil && object?.hasChanges ?? false }
  final var isModelDeleted: Bool { link != nil && object?.isDeleted ?? false }
}

typealias ModelStorage = _ModelStorage

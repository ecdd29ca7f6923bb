import SwiftData

// Classes as expanded by `@Model`, written out: the interface between the macros and the module.

final class Writer: PersistentModel, Observable {
  var name: String {
    @storageRestrictions(accesses: _$backingData, initializes: _name)
    init(initialValue) {
      _$backingData.setValue(forKey: \.name, to: initialValue)
      _name = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.name)
      return _$backingData.getValue(forKey: \.name)
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.name) {
        self.setValue(forKey: \.name, to: newValue)
      }
    }
  }
  private var _name: _SwiftDataNoType

  var works: [Work] = [] {
    @storageRestrictions(accesses: _$backingData, initializes: _works)
    init(initialValue) {
      _$backingData.setValue(forKey: \.works, to: initialValue)
      _works = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.works)
      return _$backingData.getValue(forKey: \.works)
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.works) {
        self.setValue(forKey: \.works, to: newValue)
      }
    }
  }
  private var _works: _SwiftDataNoType = _SwiftDataNoType()

  let key = UUID()

  init(name: String) { self.name = name }

  private var _$backingData: any SwiftData.BackingData<Writer> = Writer.createBackingData()
  let _$observationRegistrar = Observation.ObservationRegistrar()

  var persistentBackingData: any SwiftData.BackingData<Writer> {
    get { _$backingData }
    set { _$backingData = newValue }
  }

  static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
    [
      SwiftData.Schema.PropertyMetadata(name: "name", keypath: \Writer.name),
      SwiftData.Schema.PropertyMetadata(
        name: "works", keypath: \Writer.works, defaultValue: ([]) as [Work],
        metadata: SwiftData.Schema.Relationship(deleteRule: .cascade)),
      SwiftData.Schema.PropertyMetadata(name: "key", keypath: \Writer.key, defaultValue: UUID()),
    ]
  }

  required init(backingData: any SwiftData.BackingData<Writer>) {
    _name = _SwiftDataNoType()
    _works = _SwiftDataNoType()
    _$backingData = backingData
  }

  private struct _SwiftDataNoType {}
}

final class Work: PersistentModel, Observable {
  var title: String = "" {
    @storageRestrictions(accesses: _$backingData, initializes: _title)
    init(initialValue) {
      _$backingData.setValue(forKey: \.title, to: initialValue)
      _title = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.title)
      return _$backingData.getValue(forKey: \.title)
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.title) {
        self.setValue(forKey: \.title, to: newValue)
      }
    }
  }
  private var _title: _SwiftDataNoType = _SwiftDataNoType()

  var writer: Writer? {
    @storageRestrictions(accesses: _$backingData, initializes: _writer)
    init(initialValue) {
      _$backingData.setValue(forKey: \.writer, to: initialValue)
      _writer = _SwiftDataNoType()
    }
    get {
      _$observationRegistrar.access(self, keyPath: \.writer)
      return _$backingData.getValue(forKey: \.writer)
    }
    set {
      _$observationRegistrar.withMutation(of: self, keyPath: \.writer) {
        self.setValue(forKey: \.writer, to: newValue)
      }
    }
  }
  private var _writer: _SwiftDataNoType

  init(title: String, writer: Writer? = nil) {
    self.title = title
    self.writer = writer
  }

  private var _$backingData: any SwiftData.BackingData<Work> = Work.createBackingData()
  let _$observationRegistrar = Observation.ObservationRegistrar()

  var persistentBackingData: any SwiftData.BackingData<Work> {
    get { _$backingData }
    set { _$backingData = newValue }
  }

  static var schemaMetadata: [SwiftData.Schema.PropertyMetadata] {
    [
      SwiftData.Schema.PropertyMetadata(name: "title", keypath: \Work.title, defaultValue: ("") as String),
      SwiftData.Schema.PropertyMetadata(name: "writer", keypath: \Work.writer),
    ]
  }

  required init(backingData: any SwiftData.BackingData<Work>) {
    _title = _SwiftDataNoType()
    _writer = _SwiftDataNoType()
    _$backingData = backingData
  }

  private struct _SwiftDataNoType {}
}

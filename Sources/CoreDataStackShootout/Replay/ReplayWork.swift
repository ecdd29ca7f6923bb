import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// A recording as work of a shootout: each run begins with a copy of the store.
struct ReplayWork: ImportWork {
  let plan: ReplayPlan
  let layout: ModelLayout
  private let _input: ReplayInput
  private let _schema: ModelSchema

  /// - Throws: `ToolFailure` for a recording or a store that cannot be read.
  init(_ input: ReplayInput) throws {
    _input = input
    plan = ReplayPlan(try TraceReader.read(input.tracePaths))
    let model = try StoreModel.load(input.modelPath ?? input.storePath, for: [:])
    try model.expectExact(input.storePath)
    _schema = model.schema
    layout = try ModelLayout(model.schema)
  }

  var count: Int { plan.count }

  var listing: ImportListing {
    let entity = layout.layouts.first { !$0.isAbstract } ?? layout.layouts[0]
    return ImportListing(entity: entity.entityName, label: "self", order: "self")
  }

  func makeModel() throws -> NSManagedObjectModel {
    let model = try NSManagedObjectModel(schema: _schema)
    for entity in model.entities {
      entity.managedObjectClassName = "NSManagedObject"
      for attribute in entity.attributesByName.values where attribute.valueTransformerName != nil {
        attribute.valueTransformerName = nil
      }
      // What leads where is not recorded without values.
      for property in entity.properties where !(property is NSFetchedPropertyDescription) {
        if property is NSRelationshipDescription || Self._isLeftOut(property) { property.isOptional = true }
        (property as? NSRelationshipDescription)?.minCount = 0
      }
    }
    return model
  }

  private static func _isLeftOut(_ property: NSPropertyDescription) -> Bool {
    guard let attribute = property as? NSAttributeDescription else { return false }
    return [.transformableAttributeType, .compositeAttributeType].contains(attribute.attributeType)
  }

  func place(_ lines: Range<Int>, mode: ImportMode, in context: NSManagedObjectContext) throws {
    throw StoreCheck.Failure(description: "a recording is replayed, not imported")
  }

  func makeFloor(on store: ImportStore, in place: any StorePlace) throws -> any FloorWork {
    throw StoreCheck.Failure(description: "a recording has no floor")
  }

  /// Copies the store to where the run has it.
  ///
  /// - Returns: The keys of its objects, if they are not the recorded ones.
  func prepare(_ store: ImportStore) throws -> CopiedKeys? {
    let keys = try _input.keysPath.map { try CopiedKeys.read($0) }
    guard store.type != NSSQLiteStoreType else {
      try Self.copyStore(_input.storePath, to: store.url.path)
      return keys
    }
    let copied = try _copyObjects(to: store)
    return keys?.followed(by: copied) ?? copied
  }

  /// Copies all objects to a store of another type.
  private func _copyObjects(to store: ImportStore) throws -> CopiedKeys {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try makeModel())
    let source = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: _input.storePath),
      options: [NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: true])
    return try CopiedKeys.of(coordinator) {
      let options = try keepsHistory ? [NSPersistentHistoryTrackingKey: true] : nil
      let copy = try coordinator.migratePersistentStore(
        source, to: store.url, options: options, withType: store.type)
      try coordinator.remove(copy)
    }
  }

  /// Whether the store has a history, as the program's store has then.
  var keepsHistory: Bool {
    get throws {
      let database = try PlainSQLite(path: _input.storePath, readOnly: true)
      return try database.rows("SELECT 1 FROM sqlite_master WHERE name = 'ATRANSACTION'").count > 0
    }
  }

  /// Copies a store with its external data.
  static func copyStore(_ source: String, to path: String) throws {
    try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
      at: URL(fileURLWithPath: path), destinationOptions: nil,
      withPersistentStoreFrom: URL(fileURLWithPath: source),
      sourceOptions: nil, ofType: NSSQLiteStoreType)
  }

  private func _countObjects(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
    let context = coordinator.makeContext()
    return try context.performAndWait {
      try layout.layouts.filter { $0.parentNumber == nil }.reduce(0) {
        try $0 + context.count(for: NSFetchRequest<NSManagedObject>(entityName: $1.entityName))
      }
    }
  }

  func check(_ store: ImportStore, in place: any StorePlace, mode: ImportMode) throws -> CheckedStore {
    let plan = try RecordPlan(
      _schema, entity: listing.entity, keys: [], spansEntities: true)
    let coordinator = try NSPersistentStoreCoordinator.make(makeModel(), on: store)
    defer { try? coordinator.removeStores() }
    guard let anatomy = coordinator.persistentStores.first?.anatomy else {
      return CheckedStore(rows: try _countObjects(coordinator), digest: nil)
    }
    let digest = try StoreDigest(path: store.url.path, plan: plan, anatomy: anatomy)
    return CheckedStore(
      rows: layout.layouts.reduce(0) { $0 + (digest.parts[$1.entityName]?.count ?? 0) }, digest: nil)
  }
}

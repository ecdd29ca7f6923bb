import CoreDataModelSchema
import Foundation

/// In-memory stores.
struct MemoryStoreKind: StoreKind {
  var type: String { NSInMemoryStoreType }
  var isPersistent: Bool { false }

  func open(_ request: StoreRequest) throws -> NSPersistentStore {
    try _check(request.model, request.entities)
    let key = StoreKey.named(UUID().uuidString)
    let metadata: [String: Any] = [
      NSStoreTypeKey: type, NSStoreUUIDKey: key.identifier,
      NSStoreModelVersionHashesKey: request.model.versionHashes,
    ]
    let store = NSPersistentStore(
      type: type, configuration: request.configuration, url: request.url, options: request.options,
      entities: request.entities,
      isReadOnly: StoreOptions.isTrue(NSReadOnlyPersistentStoreOption, request.options), metadata: metadata,
      key: key)
    store.attach(
      MemoryStoreEngine(request.model, key: key, store: store, metadata: metadata), metadata: metadata)
    return store
  }

  /// A store at a URL is of another kind.
  func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    try StoreKinds.standard.metadata(at: url, options: options)
  }

  func destroy(at url: URL, options: [AnyHashable: Any]?, closing: () throws -> Void) throws { try closing() }

  /// Rejects models with attributes that only a database supports. Core Data raises here.
  private func _check(_ model: FrozenModel, _ entities: Set<String>?) throws {
    for layout in model.layout.layouts where entities?.contains(layout.entityName) ?? true {
      for slot in layout.slots {
        guard let attribute = slot.attribute, !slot.isTransient,
          attribute.isDerived || attribute.type == .composite
        else { continue }
        throw CocoaError.coreData(
          NSPersistentStoreIncompatibleSchemaError,
          "\(layout.entityName).\(slot.name) is a \(attribute.isDerived ? "derived" : "composite") attribute, which a store "
            + "in memory does not support; use a SQLite store (file:///dev/null for one that is thrown away)."
        )
      }
    }
  }
}

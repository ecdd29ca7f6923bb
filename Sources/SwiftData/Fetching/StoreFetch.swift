import CoreData

/// The class-independent part of a descriptor as a request for the engine.
struct StoreFetch {
  let request: NSFetchRequest<NSManagedObject>
  let binding: EntityBinding
  /// The custom store of the class.
  let custom: CustomStore?
  private let _context: ModelContext

  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container's schema lacks,
  ///   `.unsupportedKeyPath` for key paths that match no stored property.
  init(_ type: any PersistentModel.Type, _ options: FetchOptions, in context: ModelContext) throws {
    guard let binding = context.core.bindings.binding(of: type) else {
      throw SwiftDataError(
        .unknownSchema,
        "'\(type)' can't be fetched: the container's schema has no such class. It has: "
          + context.core.schema.entities.map(\.name).joined(separator: ", ") + ".")
    }
    self.binding = binding
    _context = context
    custom = context.core.customStore(of: binding.modelClass.name)
    request = NSFetchRequest()
    request.entity = binding.entity
    request.includesPendingChanges = options.includesPendingChanges
    if custom == nil { try _setKeyPaths(options) }
  }

  private func _setKeyPaths(_ options: FetchOptions) throws {
    let modelClass = binding.modelClass
    if !options.propertiesToFetch.isEmpty {
      request.propertiesToFetch = options.propertiesToFetch.compactMap {
        modelClass.knownIndex(of: $0).map { modelClass.accessors[$0].name }
      }
    }
    if !options.prefetchedRelationships.isEmpty {
      do {
        request.relationshipKeyPathsForPrefetching = try options.prefetchedRelationships.map {
          try ModelVocabulary.path(of: $0, from: modelClass).joined(separator: ".")
        }
      } catch {
        throw SwiftDataError(.unsupportedKeyPath, "\(error)")
      }
    }
  }

  /// Sets limit and offset.
  func setRange(_ options: FetchOptions) {
    request.fetchLimit = options.limit ?? 0
    request.fetchOffset = options.offset ?? 0
  }

  /// Returns the objects that the store finds, including unsaved changes.
  func objects() throws -> [NSManagedObject] {
    let managed = _context.managed
    let (limit, offset) = (request.fetchLimit, request.fetchOffset)
    guard limit > 0 || offset > 0, request.includesPendingChanges, managed.hasChanges else {
      return try managed.fetch(request)
    }
    // The engine limits saved objects only, while limit and offset apply to saved and unsaved models
    // together. Fetching as many more as unsaved changes can remove suffices.
    request.fetchOffset = 0
    if limit > 0 {
      request.fetchLimit = offset + limit + managed.storedChangeCount
    }
    defer { (request.fetchLimit, request.fetchOffset) = (limit, offset) }
    let rest = try managed.fetch(request).dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }
}

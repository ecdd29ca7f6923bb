import CoreData

/// A descriptor as the engine's request, as far as the class of the models doesn't matter.
struct StoreFetch {
  let request: NSFetchRequest<NSManagedObject>
  let binding: EntityBinding
  /// The store of the program's own that keeps the class.
  let custom: CustomStore?
  private let _context: ModelContext

  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container's schema lacks, `.unsupportedKeyPath` for key
  ///   paths to no stored property.
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

  /// What the store finds, with unsaved changes.
  func objects() throws -> [NSManagedObject] {
    let managed = _context.managed
    let (limit, offset) = (request.fetchLimit, request.fetchOffset)
    guard limit > 0 || offset > 0, request.includesPendingChanges, managed.hasChanges else {
      return try managed.fetch(request)
    }
    // The engine limits what is saved; limit and offset are of saved and unsaved models together. As many more as
    // unsaved changes can take away are enough.
    request.fetchOffset = 0
    if limit > 0 {
      request.fetchLimit = offset + limit + managed.storedChangeCount
    }
    defer { (request.fetchLimit, request.fetchOffset) = (limit, offset) }
    let rest = try managed.fetch(request).dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }
}

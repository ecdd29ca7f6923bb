import CoreData

/// A descriptor as the engine's request, and what of it has to be done in memory.
struct ModelFetch<T: PersistentModel> {
  let request: NSFetchRequest<NSManagedObject>
  private let _context: ModelContext
  private let _descriptor: FetchDescriptor<T>
  /// What the store can't be asked for.
  private var _filter: Predicate<T>?
  private var _order: [SortDescriptor<T>] = []
  /// The store of the program's own that keeps the class, with the class's entity.
  private let _custom: (store: CustomStore, binding: EntityBinding)?

  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container's schema lacks.
  init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) throws {
    guard let binding = context.core.bindings.binding(of: T.self) else {
      throw SwiftDataError(
        .unknownSchema,
        "'\(T.self)' can't be fetched: the container's schema has no such class. It has: "
          + context.core.schema.entities.map(\.name).joined(separator: ", ") + ".")
    }
    _context = context
    _descriptor = descriptor
    _custom = context.core.customStore(of: binding.modelClass.name).map { ($0, binding) }
    request = NSFetchRequest(entityName: binding.modelClass.name)
    request.entity = binding.entity
    request.includesPendingChanges = descriptor.includePendingChanges
    if _custom != nil { return }
    if let predicate = descriptor.predicate {
      do {
        request.predicate = try context.core.shapes.translate(predicate, context)
      } catch {
        Self._warn("the predicate is evaluated in memory, on all models of the class", error)
        _filter = predicate
      }
    }
    if !descriptor.sortBy.isEmpty {
      do {
        request.sortDescriptors = try descriptor.sortBy.map {
          try SortTranslation.descriptor($0, binding.modelClass)
        }
      } catch {
        Self._warn("the order is made in memory", error)
        _order = descriptor.sortBy
      }
    }
    try _takeKeyPaths(binding.modelClass)
    _takeRange()
  }

  private static func _warn(_ what: String, _ error: any Error) {
    Console.warnOnce(about: "\(T.self) \(error)", "fetch of \(T.self): \(what): \(error)")
  }

  /// Limit and offset come last, after what is done in memory.
  private func _takeRange() {
    let isWhole = _filter == nil && _order.isEmpty
    request.fetchLimit = isWhole ? _descriptor.fetchLimit ?? 0 : 0
    request.fetchOffset = isWhole ? _descriptor.fetchOffset ?? 0 : 0
  }

  private func _takeKeyPaths(_ modelClass: ModelClass) throws {
    func names(_ paths: [PartialKeyPath<T>]) throws -> [String] {
      try paths.map { path in
        do {
          return try ModelVocabulary.path(of: path, from: modelClass).joined(separator: ".")
        } catch {
          throw SwiftDataError(.unsupportedKeyPath, "\(error)")
        }
      }
    }
    if !_descriptor.propertiesToFetch.isEmpty {
      request.propertiesToFetch = _descriptor.propertiesToFetch.compactMap {
        modelClass.knownIndex(of: $0).map { modelClass.accessors[$0].name }
      }
    }
    if !_descriptor.relationshipKeyPathsForPrefetching.isEmpty {
      request.relationshipKeyPathsForPrefetching = try names(_descriptor.relationshipKeyPathsForPrefetching)
    }
  }

  /// Whether the store does everything.
  var isWhole: Bool { _filter == nil && _order.isEmpty }

  // MARK: Results

  /// The objects that are found.
  func objects() throws -> [NSManagedObject] {
    _context.mergeNews()
    _context.applyDeletions()
    if let _custom { return try _context.objects(_descriptor, in: _custom.store, _custom.binding) }
    if isWhole {
      do {
        return try _objectsOfStore()
      } catch {
        guard request.predicate != nil || request.sortDescriptors != nil else { throw error }
        // What a translated predicate asks may still be more than the store can answer.
        var all = self
        all._filter = _descriptor.predicate
        all._order = _descriptor.sortBy
        all.request.predicate = nil
        all.request.sortDescriptors = nil
        all._takeRange()
        let objects = try all._objectsInMemory()
        Self._warn("predicate and order are evaluated in memory", error)
        return objects
      }
    }
    return try _objectsInMemory()
  }

  /// What the store finds, with unsaved changes.
  private func _objectsOfStore() throws -> [NSManagedObject] {
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

  private func _objectsInMemory() throws -> [NSManagedObject] {
    var models = try _context.managed.fetch(request).map {
      ($0, unsafeDowncast(_context.instance(of: $0), to: T.self))
    }
    if let _filter {
      do {
        models = try models.filter { try _filter.evaluate($0.1) }
      } catch {
        throw SwiftDataError(.unsupportedPredicate, "The predicate on \(T.self) can't be evaluated: \(error)")
      }
    }
    if !_order.isEmpty {
      models.sort { left, right in
        for descriptor in _order {
          switch SortTranslation.compare(left.1, right.1, by: descriptor) {
          case .orderedAscending: return true
          case .orderedDescending: return false
          case .orderedSame: continue
          }
        }
        return false
      }
    }
    let rest = models.dropFirst(max(0, _descriptor.fetchOffset ?? 0))
    let limit = _descriptor.fetchLimit ?? 0
    return (limit > 0 ? rest.prefix(limit) : rest).map(\.0)
  }

  /// The number of objects that are found.
  func count() throws -> Int {
    if let _custom {
      _context.applyDeletions()
      let isDirty = _descriptor.includePendingChanges && _context.managed.hasChanges
      if isDirty { return try objects().count }
      return try _custom.store.count(_descriptor, _context.editingState)
    }
    let hasRange = request.fetchLimit > 0 || request.fetchOffset > 0
    if !isWhole || hasRange && _context.managed.hasChanges { return try objects().count }
    _context.mergeNews()
    _context.applyDeletions()
    do {
      return try _context.managed.count(for: request)
    } catch {
      guard request.predicate != nil else { throw error }
      return try objects().count
    }
  }
}

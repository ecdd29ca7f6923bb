import CoreData

/// A descriptor as a request for the engine, and its parts that must be evaluated in memory.
struct ModelFetch<T: PersistentModel> {
  private let _store: StoreFetch
  private let _context: ModelContext
  private let _descriptor: FetchDescriptor<T>
  /// The parts that the store can't evaluate.
  private var _filter: Predicate<T>?
  private var _order: [SortDescriptor<T>] = []

  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container's schema lacks.
  init(_ descriptor: FetchDescriptor<T>, in context: ModelContext) throws {
    _store = try StoreFetch(T.self, descriptor._options, in: context)
    _context = context
    _descriptor = descriptor
    if _store.custom != nil { return }
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
        request.sortDescriptors = try SortTranslation.descriptors(
          descriptor.sortBy, _store.binding.modelClass)
      } catch {
        Self._warn("the order is made in memory", error)
        _order = descriptor.sortBy
      }
    }
    // Limit and offset apply after filtering and sorting in memory.
    if isWhole { _store.setRange(descriptor._options) }
  }

  private static func _warn(_ what: String, _ error: any Error) {
    Console.warnOnce(about: "\(T.self) \(error)", "fetch of \(T.self): \(what): \(error)")
  }

  var request: NSFetchRequest<NSManagedObject> { _store.request }

  /// Whether the store executes the whole fetch.
  var isWhole: Bool { _filter == nil && _order.isEmpty }

  // MARK: Results

  /// Returns the objects found.
  func objects() throws -> [NSManagedObject] {
    _context.prepareFetch()
    if let custom = _store.custom { return try _context.objects(_descriptor, in: custom, _store.binding) }
    guard isWhole else { return try _objectsInMemory() }
    do {
      return try _store.objects()
    } catch  where UntranslatableQueryError.isReason(of: error) {
      // A predicate that the engine takes may still have no SQL.
      var all = self
      all._filter = _descriptor.predicate
      all._order = _descriptor.sortBy
      request.predicate = nil
      request.sortDescriptors = nil
      _store.setRange(FetchOptions())
      let objects = try all._objectsInMemory()
      Self._warn("predicate and order are evaluated in memory", error)
      return objects
    }
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

  /// Returns the number of objects found.
  func count() throws -> Int {
    if let custom = _store.custom {
      _context.applyDeletions()
      let isDirty = _descriptor.includePendingChanges && _context.managed.hasChanges
      if isDirty { return try objects().count }
      return try custom.count(_descriptor, _context.editingState)
    }
    _context.insertJoining()
    let hasRange = request.fetchLimit > 0 || request.fetchOffset > 0
    if !isWhole || hasRange && _context.managed.hasChanges { return try objects().count }
    _context.prepareFetch()
    do {
      return try _context.managed.count(for: request)
    } catch  where UntranslatableQueryError.isReason(of: error) {
      return try objects().count
    }
  }
}

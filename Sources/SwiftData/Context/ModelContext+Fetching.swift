import CoreData

extension ModelContext {
  /// Fetches models; registered models are returned as the same instances.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container lacks, `.unsupportedPredicate`
  ///   for a predicate that can't even be evaluated in memory, and errors of the store.
  @inlinable public func fetch<T>(_ descriptor: FetchDescriptor<T>) throws -> [T] where T: PersistentModel {
    // Inlined into the caller's module, which knows the class, to avoid metadata look-ups at run time.
    let found = try modelsOfStore(
      T.self, where: descriptor.predicate.map { ($0.expression, $0.variable.key) },
      sortedBy: descriptor.sortBy.isEmpty ? [] : sortDescriptors(descriptor.sortBy), descriptor._options)
    // The models are of the fetched entity, whose class is T or a subclass.
    if let found { return unsafeBitCast(found, to: [T].self) }
    return try models(descriptor)
  }

  /// Translates a sort order for the store; nil if that is impossible.
  @usableFromInline func sortDescriptors<T: PersistentModel>(
    _ descriptors: [SortDescriptor<T>]
  ) -> [NSSortDescriptor]? {
    try? SortTranslation.descriptors(descriptors, ModelClass.of(T.self))
  }

  /// Returns the models that the store finds; nil if it can't execute the whole fetch.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` for a class that the container lacks, `.unsupportedKeyPath` for
  ///   a key path that matches no stored property, and errors of the store.
  @usableFromInline func modelsOfStore(
    _ type: any PersistentModel.Type,
    where condition: (any StandardPredicateExpression<Bool>, PredicateExpressions.VariableID)?,
    sortedBy order: [NSSortDescriptor]?, _ options: FetchOptions
  ) throws -> [AnyObject]? {
    let fetch = try StoreFetch(type, options, in: self)
    guard fetch.custom == nil, let order else { return nil }
    if let (condition, variable) = condition {
      guard let predicate = try? core.shapes.translate(condition, variable, self) else { return nil }
      fetch.request.predicate = predicate
    }
    if !order.isEmpty { fetch.request.sortDescriptors = order }
    fetch.setRange(options)
    prepareFetch()
    do {
      return try fetch.objects().map { instance(of: $0) }
    } catch  where UntranslatableQueryError.isReason(of: error) {
      return nil
    }
  }

  /// Returns the fetched models, with the remaining work done in memory.
  @usableFromInline func models<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try ModelFetch(descriptor, in: self).objects().map { unsafeDowncast(instance(of: $0), to: T.self) }
  }

  /// Inserts models that joined, merges the saves of other contexts, and applies delete rules.
  func prepareFetch() {
    insertJoining()
    mergeNews()
    applyDeletions()
  }

  /// Fetches models that are loaded in batches on access.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetch<T>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<T> where T: PersistentModel {
    let fetch = try ModelFetch(descriptor, in: self)
    if fetch.isWhole { fetch.request.fetchBatchSize = max(0, batchSize) }
    let objects = try fetch.objects()
    return FetchResultsCollection(count: objects.count) { [self] in
      unsafeDowncast(instance(of: objects[$0]), to: T.self)
    }
  }

  /// Returns the number of models that a fetch would return.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchCount<T>(_ descriptor: FetchDescriptor<T>) throws -> Int where T: PersistentModel {
    try ModelFetch(descriptor, in: self).count()
  }

  /// Fetches the identities of models.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<T>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [PersistentIdentifier] where T: PersistentModel {
    if let store = core.customStore(of: ModelClass.of(T.self).name),
      !(descriptor.includePendingChanges && managed.hasChanges)
    {
      return try store.identifiers(descriptor, editingState)
    }
    let fetch = try ModelFetch(descriptor, in: self)
    if fetch.isWhole { fetch.request.includesPropertyValues = false }
    return try fetch.objects().map { _identifier(of: $0) }
  }

  /// Fetches the identities of models.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<T>(
    _ descriptor: FetchDescriptor<T>, batchSize: Int
  ) throws -> FetchResultsCollection<PersistentIdentifier> where T: PersistentModel {
    let identifiers = try fetchIdentifiers(descriptor)
    return FetchResultsCollection(count: identifiers.count) { identifiers[$0] }
  }

  /// Calls a block for each model of a fetch, in batches.
  ///
  /// - Parameters:
  ///   - fetch: The fetch.
  ///   - batchSize: Number of models in memory at a time.
  ///   - allowEscapingMutations: Without effect: unsaved changes that the block leaves stay pending in either case, and
  ///     models without any are released after each batch.
  ///   - block: Called with each model.
  /// - Throws: Errors of the fetch or the block.
  public func enumerate<T>(
    _ fetch: FetchDescriptor<T>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (T) throws -> Void
  ) throws where T: PersistentModel {
    let results = try self.fetch(fetch, batchSize: batchSize)
    let size = max(1, batchSize)
    var place = 0
    while place < results.count {
      let end = min(place + size, results.count)
      for index in place..<end { try block(results[index]) }
      place = end
    }
  }

  private func _identifier(of object: NSManagedObject) -> PersistentIdentifier {
    if let parts = object.identityParts { return PersistentIdentifier(parts) }
    return model(of: object).persistentModelID
  }
}

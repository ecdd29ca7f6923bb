extension ResultsObserver where SectionTitle == Never {
  /// Creates an observer of a context's models.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(fetchDescriptor, modelContext, sectionBy: nil, title: nil, on: isolation)
  }

  /// Creates an observer of a container's models, in a context of its own.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(), modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, ModelContext.observing(modelContainer, on: isolation), sectionBy: nil, title: nil,
      on: isolation)
  }

  /// Creates an observer of a context's models.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext, sectionBy: nil, title: nil,
      on: isolation)
  }

  /// Creates an observer of a container's models, in a context of its own.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
      ModelContext.observing(modelContainer, on: isolation), sectionBy: nil,
      title: nil, on: isolation)
  }
}

extension ResultsObserver where SectionTitle == String {
  /// Creates an observer with sections by a text property.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, modelContext, sectionBy: sectionBy, title: { $0[keyPath: sectionBy] }, on: isolation)
  }

  /// Creates an observer with sections by a text property.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, ModelContext.observing(modelContainer, on: isolation), sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] }, on: isolation)
  }

  /// Creates an observer with sections by a text property.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext, sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] }, on: isolation)
  }

  /// Creates an observer with sections by a text property.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String>, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
      ModelContext.observing(modelContainer, on: isolation), sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] }, on: isolation)
  }

  /// Creates an observer with sections by an optional text property; models without a value are in the
  /// section with the empty title.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, modelContext, sectionBy: sectionBy, title: { $0[keyPath: sectionBy] ?? "" },
      on: isolation)
  }

  /// Creates an observer with sections by an optional text property; models without a value are in the
  /// section with the empty title.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    fetchDescriptor: FetchDescriptor<Element> = FetchDescriptor<Element>(),
    sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      fetchDescriptor, ModelContext.observing(modelContainer, on: isolation), sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" }, on: isolation)
  }

  /// Creates an observer with sections by an optional text property; models without a value are in the
  /// section with the empty title.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String?>, modelContext: ModelContext,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []), modelContext, sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" }, on: isolation)
  }

  /// Creates an observer with sections by an optional text property; models without a value are in the
  /// section with the empty title.
  ///
  /// - Throws: Errors of the first fetch.
  public convenience init(
    filterBy: Predicate<Element>? = nil, sortBy: [SortDescriptor<Element>]? = nil,
    sectionBy: KeyPath<Element, String?>, modelContainer: ModelContainer,
    isolation: isolated (any Actor)? = #isolation
  ) throws {
    try self.init(
      FetchDescriptor(predicate: filterBy, sortBy: sortBy ?? []),
      ModelContext.observing(modelContainer, on: isolation), sectionBy: sectionBy,
      title: { $0[keyPath: sectionBy] ?? "" }, on: isolation)
  }
}

extension ModelContext {
  /// The context for observing a container: the main one on the main actor, otherwise a new one.
  static func observing(_ container: ModelContainer, on isolation: (any Actor)?) -> ModelContext {
    guard isolation === MainActor.shared else { return ModelContext(container) }
    // The caller runs on the main actor.
    nonisolated(unsafe) var context: ModelContext?
    MainActor.assumeIsolated { context = container.mainContext }
    return context!
  }
}

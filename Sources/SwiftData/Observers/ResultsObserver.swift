import CoreData

/// Keeps the results of a fetch up to date, for observing code.
///
/// Used where its context is used: the results change when the context processes its own changes, saves, or
/// merges the saves of others. An observer created on an actor triggers these merges automatically;
/// otherwise, unless its context is the main one, they wait for the context's next fetch.
public final class ResultsObserver<Element, SectionTitle>: Observable
where Element: PersistentModel, SectionTitle: Hashable {
  /// The fetch. Setting it fetches again.
  public var fetchDescriptor: FetchDescriptor<Element> {
    didSet { refresh() }
  }

  /// The condition for models. Setting it fetches again.
  public var filterBy: Predicate<Element>? {
    get { fetchDescriptor.predicate }
    set { fetchDescriptor.predicate = newValue }
  }

  /// The order of the models. Setting it fetches again.
  public var sortBy: [SortDescriptor<Element>] {
    get { fetchDescriptor.sortBy }
    set { fetchDescriptor.sortBy = newValue }
  }

  /// The property that determines sections; nil for no sections. Setting it regroups the models.
  public var sectionBy: PartialKeyPath<Element>? {
    didSet { refresh() }
  }

  /// The context that fetches.
  public let modelContext: ModelContext
  private let _title: ((Element) -> SectionTitle)?
  private let _registrar = ObservationRegistrar()
  private var _models: [Element] = []
  private var _sections: ResultsSectionCollection<Element, SectionTitle>?
  private var _observations: [NotificationObservation] = []
  private var _isFetching = false

  init(
    _ descriptor: FetchDescriptor<Element>, _ context: ModelContext, sectionBy: PartialKeyPath<Element>?,
    title: ((Element) -> SectionTitle)?, on isolation: (any Actor)?
  ) throws {
    fetchDescriptor = descriptor
    modelContext = context
    self.sectionBy = sectionBy
    _title = title
    try _fetch()
    _follow(isolation)
  }

  deinit { modelContext.mailbox.removeWake(for: self) }

  private func _follow(_ isolation: (any Actor)?) {
    let reference = FollowedObserver(self, on: isolation)
    for name in [ModelContext.didSave, Notification.Name.NSManagedObjectContextObjectsDidChange] {
      let object: AnyObject = name == ModelContext.didSave ? modelContext : modelContext.managed
      _observations.append(
        NotificationObservation(of: name, from: object) { _ in reference.observer?.refresh() })
    }
    // The saves of others wait until the context is used; on an actor that is possible now.
    if isolation != nil { modelContext.mailbox.addWake(for: self) { reference.refreshLater() } }
  }

  /// The models. They follow the store; an assigned value lasts until the next change.
  public var results: FetchResultsCollection<Element> {
    get {
      _registrar.access(self, keyPath: \.results)
      let models = _models
      return FetchResultsCollection(count: models.count) { models[$0] }
    }
    set { _set(Array(newValue)) }
  }

  /// The models by sections; nil without ``sectionBy``.
  public var sections: ResultsSectionCollection<Element, SectionTitle>? {
    _registrar.access(self, keyPath: \.sections)
    return _sections
  }

  /// The model at a section and an index in it; nil if there is none.
  public func element(at indexPath: IndexPath) -> Element? {
    guard indexPath.count == 2 else { return nil }
    guard let _sections else {
      return indexPath[0] == 0 && _models.indices.contains(indexPath[1]) ? _models[indexPath[1]] : nil
    }
    guard _sections.indices.contains(indexPath[0]), _sections[indexPath[0]].indices.contains(indexPath[1])
    else { return nil }
    return _sections[indexPath[0]][indexPath[1]]
  }

  /// Section and index of a model; nil if it isn't among the results.
  public func indexPath(for element: Element) -> IndexPath? {
    guard let _sections else {
      return _models.firstIndex { $0 === element }.map { IndexPath(indexes: [0, $0]) }
    }
    for (number, section) in _sections.enumerated() {
      if let index = section.firstIndex(where: { $0 === element }) {
        return IndexPath(indexes: [number, index])
      }
    }
    return nil
  }

  // MARK: Fetching

  func refresh() {
    do {
      try _fetch()
    } catch {
      Console.warn("a ResultsObserver of \(Element.self) can't fetch; its results stay: \(error)")
    }
  }

  private func _fetch() throws {
    // A fetch makes the context process its changes, which notifies this observer.
    guard !_isFetching else { return }
    _isFetching = true
    defer { _isFetching = false }
    _set(try modelContext.fetch(fetchDescriptor))
  }

  private func _set(_ models: [Element]) {
    let sections = _title.map { ResultsSectionCollection(models, by: $0) }
    let isSame =
      models.count == _models.count && zip(models, _models).allSatisfy { $0 === $1 }
      && sections?.shape == _sections?.shape
    guard !isSame else { return }
    _registrar.withMutation(of: self, keyPath: \.results) {
      _registrar.withMutation(of: self, keyPath: \.sections) {
        _models = models
        _sections = sections
      }
    }
  }
}

extension ResultsObserver: RefreshingObserver {}

/// An object that can fetch again.
protocol RefreshingObserver: AnyObject {
  func refresh()
}

/// Weak references to an observer and its actor, for its notification sources.
private final class FollowedObserver: @unchecked Sendable {
  // Unchecked: set once; notifications of a context are posted where it is used, as is the observer.
  private(set) weak var observer: (any RefreshingObserver)?
  private weak var _actor: (any Actor)?

  init(_ observer: any RefreshingObserver, on actor: (any Actor)?) {
    self.observer = observer
    _actor = actor
  }

  /// Fetches again in a later job of the actor.
  func refreshLater() {
    Task { [self] in
      if let _actor { await _refresh(on: _actor) }
    }
  }

  private func _refresh(on actor: isolated any Actor) { observer?.refresh() }
}

extension ResultsObserver: CustomDebugStringConvertible {
  /// Class and number of models.
  public var debugDescription: String { "ResultsObserver<\(Element.self)>(\(_models.count) models)" }
}

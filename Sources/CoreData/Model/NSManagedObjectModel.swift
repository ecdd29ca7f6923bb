import CoreDataModelSchema
import Foundation
import Synchronization

/// A set of entities that refer to each other: the schema of an object graph.
///
/// Editable until a coordinator first uses it; from then on immutable, and any change traps. `copy()` returns
/// an editable copy. Not safe to edit from several threads; once in use, safe to read from all.
///
/// ```swift
/// guard let url = Bundle.main.url(forResource: "Library", withExtension: "momd"),
///   let model = NSManagedObjectModel(contentsOf: url)
/// else { fatalError("The model cannot be read.") }
/// print(model.entitiesByName.keys.sorted())
/// ```
open class NSManagedObjectModel: NSObject, NSCopying {
  private var _entities: [NSEntityDescription] = []
  private var _configurations: [String: [NSEntityDescription]] = [:]
  private var _templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
  private var _templateSchemas: [String: FetchRequestSchema] = [:]
  private var _versionIdentifiers: Set<AnyHashable> = []
  /// Configurations marked for CloudKit in the model file; kept for writing the model back.
  final var cloudKitConfigurations: Set<String> = []
  /// Whether the model was reconstructed from the tables of a store without a model copy. Names, types and
  /// relationships are as exact as the tables allow, the version hashes differ from the store's, and only
  /// that store accepts the model, opened read-only.
  ///
  /// > Note: Not in Apple's Core Data.
  public internal(set) final var isReconstructedFromTables = false
  /// Whether the model was found in a store, so that its classes may belong to another program.
  final var isFromStore = false
  /// Gates for the predicates of a compiled model; nil for models of other origin.
  final var evaluationGates: EvaluationGates?
  /// Set once, when a coordinator first uses the model.
  final let frozenModel = Mutex<FrozenModel?>(nil)

  /// Number of changes to the model and its parts, for invalidating caches.
  private var _edits = 0
  /// The layout of a model that was created from plain values; nil once it is edited.
  private var _layout: ModelLayout?
  private let _hashes = Mutex<(edits: Int, hashes: [String: Data])?>(nil)

  /// Creates a model without entities.
  public override init() { super.init() }

  /// Reads a model file: a compiled `.momd` or `.mom`, an editable `.xcdatamodeld` or `.xcdatamodel`, or the
  /// `contents` of the latter. From a directory with several versions it reads the current one.
  ///
  /// Returns nil on failure; `load(contentsOf:)` throws the reason. Core Data reads compiled models only.
  public convenience init?(contentsOf url: URL) {
    do {
      try self.init(fileAt: url)
    } catch {
      return nil
    }
  }

  // MARK: Entities

  /// The entities by name.
  ///
  /// ```swift
  /// let attributes = model.entitiesByName["Book"]?.attributesByName.keys.sorted() ?? []
  /// ```
  open var entitiesByName: [String: NSEntityDescription] {
    if let frozen = frozenModel.withLock({ $0 }) { return frozen.entitiesByName }
    return Dictionary(_entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The entities, including abstract ones. Setting them also adds their subentities.
  open var entities: [NSEntityDescription] {
    get { _entities }
    set {
      willMutate("entities")
      var seen: Set<ObjectIdentifier> = []
      var all: [NSEntityDescription] = []
      func add(_ entity: NSEntityDescription) {
        guard seen.insert(ObjectIdentifier(entity)).inserted else { return }
        all.append(entity)
      }
      func addBelow(_ entity: NSEntityDescription) {
        for child in entity.subentities {
          add(child)
          addBelow(child)
        }
      }
      for entity in newValue { add(entity) }
      for entity in newValue { addBelow(entity) }
      for entity in _entities where entity.owner === self && !seen.contains(ObjectIdentifier(entity)) {
        entity.owner = nil
      }
      _entities = all
      for entity in all {
        precondition(
          entity.owner == nil || entity.owner === self || entity.frozen == nil,
          "entity '\(entity.name ?? "?")' belongs to a model in use; add a copy of it")
        entity.owner = self
      }
      _configurations = _configurations.mapValues { $0.filter { seen.contains(ObjectIdentifier($0)) } }
    }
  }

  // MARK: Configurations

  /// Names of the configurations, without "PF_DEFAULT_CONFIGURATION_NAME" (all entities).
  open var configurations: [String] { _configurations.keys.sorted() }

  /// Returns the entities of a configuration; all for nil or the default configuration, nil for an unknown
  /// name.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return _entities }
    if let entities = _configurations[configuration] { return entities }
    return configuration == "Default" ? _entities : nil
  }

  /// Defines a configuration; traps for an entity that is not in the model.
  ///
  /// ```swift
  /// model.setEntities(model.entities.filter { $0.name != "Cache" }, forConfigurationName: "Documents")
  /// ```
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    willMutate("configurations")
    for entity in entities where !_entities.contains(where: { $0 === entity }) {
      programmerError(
        "configuration '\(configuration)' can't have entity '\(entity.name ?? "?")': it is not in the model; add it first"
      )
    }
    _configurations[configuration] = entities
  }

  /// Name of the configuration with all entities.
  static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  // MARK: Fetch request templates

  /// Stores a request under a name; nil removes it.
  ///
  /// ```swift
  /// let template = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
  /// template.predicate = NSPredicate(format: "author.name == $NAME")
  /// model.setFetchRequestTemplate(template, forName: "BooksByAuthor")
  /// ```
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    willMutate("fetch request templates")
    _templates[name] = fetchRequestTemplate
    _templateSchemas[name] = nil
  }

  /// Returns the request stored under this name, not a copy: do not modify it.
  ///
  /// Also nil if its predicate in the model file cannot be parsed.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    if let template = _templates[name] { return template }
    guard let schema = _templateSchemas[name] else { return nil }
    guard let made = try? NSFetchRequest<any NSFetchRequestResult>.make(schema) else { return nil }
    if let predicate = made.predicate { evaluationGates?.hold(predicate) }
    if frozenModel.withLock({ $0 == nil }) { _templates[name] = made }
    return made
  }

  /// Returns a copy of the request stored under this name, with variables replaced by `variables`; use
  /// `NSNull()` for nil.
  ///
  /// Traps for a variable without a value, where Core Data raises; ignores values without a variable.
  ///
  /// ```swift
  /// let request = model.fetchRequestFromTemplate(
  ///   withName: "BooksByAuthor", substitutionVariables: ["NAME": "Virginia Woolf"])
  /// ```
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let template = fetchRequestTemplate(forName: name) else { return nil }
    let request = template.copy() as! NSFetchRequest<any NSFetchRequestResult>
    request.predicate = request.predicate.map { predicate in
      let missing = ModelText.variables(of: predicate).subtracting(variables.keys).sorted()
      guard missing.isEmpty else {
        programmerError(
          "the fetch request template '\(name)' needs a value for \(missing.map { "$" + $0 }.joined(separator: ", ")), and "
            + "was given \(variables.keys.sorted().joined(separator: ", ")). Use NSNull() for nil.")
      }
      return ModelText.substituting(variables, in: predicate)
    }
    return request
  }

  /// The stored requests by name.
  open var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] {
    var all: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    for name in templateNames { all[name] = fetchRequestTemplate(forName: name) }
    return all
  }

  final var templateNames: [String] { Set(_templates.keys).union(_templateSchemas.keys).sorted() }

  /// The template as plain values.
  final func templateSchema(forName name: String) -> FetchRequestSchema? {
    _templateSchemas[name] ?? _templates[name].map { FetchRequestSchema($0, name: name) }
  }

  final func setTemplateSchema(_ schema: FetchRequestSchema) { _templateSchemas[schema.name] = schema }

  /// Copies the templates to a copy of the model.
  final func copyTemplates(to copy: NSManagedObjectModel) {
    for (name, template) in _templates where copy._templates[name] == nil {
      copy._templates[name] = (template.copy() as! NSFetchRequest<any NSFetchRequestResult>)
    }
    copy._templateSchemas.merge(_templateSchemas) { first, _ in first }
  }

  // MARK: Labels

  /// Localized names of entities ("Entity/Book"), properties ("Property/title/Entity/Book", "Property/title")
  /// and error messages ("ErrorString/…"): those set explicitly, or those of the strings file beside the
  /// model's file, which is named after it ("LibraryModel.strings") and may be in a language's `.lproj`.
  open var localizationDictionary: [String: String]?

  /// Arbitrary labels of the model's version; merged when models merge, otherwise unused.
  open var versionIdentifiers: Set<AnyHashable> {
    get { _versionIdentifiers }
    set {
      willMutate("versionIdentifiers")
      _versionIdentifiers = newValue
    }
  }

  /// Traps if the model is in use, since stores and contexts would not notice the change.
  final func willMutate(_ what: StaticString) {
    if frozenModel.withLock({ $0 != nil }) {
      programmerError(
        "can't change \(what) of a model in use by a coordinator: it is immutable now; change a copy() of it")
    }
    recordEdit()
  }

  /// Records an imminent change of the model or one of its parts.
  final func recordEdit() {
    _edits += 1
    _layout = nil
  }

  /// The layout cached since the last change; nil if there is none.
  final var knownLayout: ModelLayout? {
    get { isClosed ? _layout : nil }
    set { _layout = newValue }
  }

  /// The layout that the model was created with, as long as nothing was changed since.
  final var ownLayout: ModelLayout? { _layout }

  /// Returns the version hashes cached since the last change, otherwise those of `compute`, which are cached
  /// if it permits.
  final func versionHashes(orCompute compute: () -> (hashes: [String: Data], mayKeep: Bool)) -> [String: Data]
  {
    let edits = _edits
    if let known = _hashes.withLock({ $0 }), known.edits == edits { return known.hashes }
    let (hashes, mayKeep) = compute()
    if mayKeep { _hashes.withLock { $0 = (edits, hashes) } }
    return hashes
  }

  /// Whether `object` is an equal model.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSManagedObjectModel).map(hasContent) ?? false
  }

  open override var hash: Int { Set(_entities.map(\.name)).hashValue }

  // MARK: Copying

  /// Returns an editable copy with copies of all its parts, connected like the originals.
  ///
  /// ```swift
  /// let draft = model.copy() as! NSManagedObjectModel
  /// draft.entitiesByName["Book"]?.isAbstract = true
  /// ```
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel()
    copy.adoptCopy(of: [self], entities: _entities)
    return copy
  }
}

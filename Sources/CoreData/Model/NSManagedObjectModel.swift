import CoreDataModelSchema
import Foundation
import Synchronization

/// A set of entities that refer to each other: the shape of an object graph.
///
/// Editable until a coordinator first uses it; from then on immutable, and any change traps. `copy()` makes
/// an editable one. Not safe to edit from several threads; once in use, safe to read from all.
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
  /// Configurations that the model file marks for CloudKit; kept for writing the model back.
  final var cloudKitConfigurations: Set<String> = []
  /// Whether the model was put together from the tables of a store that keeps no copy of its model: names,
  /// types and relationships are as good as tables tell, version hashes are not the store's, and only that
  /// store, opened read-only, takes the model.
  ///
  /// > Note: Not in Apple's Core Data.
  public internal(set) final var isReconstructedFromTables = false
  /// Whether the model was found inside a store, so that its classes may be another program's.
  final var isFromStore = false
  /// Holds back the predicates of a compiled model; nil for models of other origin.
  final var evaluationGates: EvaluationGates?
  /// Set once, when a coordinator first uses the model.
  final let frozenModel = Mutex<FrozenModel?>(nil)

  /// Counts changes of the model and of its parts, so that what is computed of it is computed once.
  private var _edits = 0
  private let _hashes = Mutex<(edits: Int, hashes: [String: Data])?>(nil)

  /// Makes a model without entities.
  public override init() { super.init() }

  /// Reads a model file: a compiled `.momd` or `.mom`, an editor's `.xcdatamodeld` or `.xcdatamodel`, or the
  /// `contents` of the latter. Of a directory with several versions it reads the current one.
  ///
  /// Nil when that fails; `load(contentsOf:)` says why. Core Data reads compiled models only.
  public convenience init?(contentsOf url: URL) {
    do {
      try self.init(fileAt: url)
    } catch {
      return nil
    }
    localizationDictionary = ModelLocalization.strings(forModelAt: url)
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

  /// The entities, abstract ones included. Subentities of those set are taken in with them.
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

  /// Names of the configurations, "PF_DEFAULT_CONFIGURATION_NAME" (all entities) not among them.
  open var configurations: [String] { _configurations.keys.sorted() }

  /// Entities of the configuration; all for nil or the default configuration, nil for an unknown name.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return _entities }
    if let entities = _configurations[configuration] { return entities }
    return configuration == "Default" ? _entities : nil
  }

  /// Defines a configuration; an entity that is not in the model traps.
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

  /// Name of the configuration that holds all entities.
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

  /// The request stored under this name, without copying: don't change it.
  ///
  /// Nil too for one whose predicate text in the model file can't be parsed.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    if let template = _templates[name] { return template }
    guard let schema = _templateSchemas[name] else { return nil }
    guard let made = try? NSFetchRequest<any NSFetchRequestResult>.make(schema) else { return nil }
    if let predicate = made.predicate { evaluationGates?.hold(predicate) }
    if frozenModel.withLock({ $0 == nil }) { _templates[name] = made }
    return made
  }

  /// A copy of the request stored under this name, its variables replaced by `variables`; nil is given as
  /// `NSNull()`.
  ///
  /// Traps if a variable is given no value, as Core Data raises; values without a variable are ignored.
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

  /// Hands the templates to a copy of the model.
  final func copyTemplates(to copy: NSManagedObjectModel) {
    for (name, template) in _templates where copy._templates[name] == nil {
      copy._templates[name] = (template.copy() as! NSFetchRequest<any NSFetchRequestResult>)
    }
    copy._templateSchemas.merge(_templateSchemas) { first, _ in first }
  }

  // MARK: Labels

  /// Localised names of entities ("Entity/Book"), properties ("Property/title/Entity/Book", "Property/title")
  /// and error messages ("ErrorString/…"): those set, or those of the strings file beside the model that this
  /// was read from, which is named after it ("LibraryModel.strings") and may lie in a language's `.lproj`.
  open var localizationDictionary: [String: String]?

  /// Free labels of the model's version; combined when models merge, never used otherwise.
  open var versionIdentifiers: Set<AnyHashable> {
    get { _versionIdentifiers }
    set {
      willMutate("versionIdentifiers")
      _versionIdentifiers = newValue
    }
  }

  /// Traps once the model is in use: the stores and contexts that read it would not notice.
  final func willMutate(_ what: StaticString) {
    if frozenModel.withLock({ $0 != nil }) {
      programmerError(
        "can't change \(what) of a model in use by a coordinator: it is immutable now; change a copy() of it")
    }
    recordEdit()
  }

  /// Records that the model or one of its parts is about to change.
  final func recordEdit() { _edits += 1 }

  /// The version hashes as computed since the last change, else those that `compute` answers, kept if they may
  /// be.
  final func versionHashes(orCompute compute: () -> (hashes: [String: Data], mayKeep: Bool)) -> [String: Data]
  {
    let edits = _edits
    if let known = _hashes.withLock({ $0 }), known.edits == edits { return known.hashes }
    let (hashes, mayKeep) = compute()
    if mayKeep { _hashes.withLock { $0 = (edits, hashes) } }
    return hashes
  }

  /// Whether `object` is a model that says the same.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? NSManagedObjectModel).map(hasContent) ?? false
  }

  open override var hash: Int { Set(_entities.map(\.name)).hashValue }

  // MARK: Copying

  /// An editable copy with copies of all its parts, connected as the originals are.
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

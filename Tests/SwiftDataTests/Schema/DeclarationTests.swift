import CoreData
import SwiftData
import TestSupport
import Testing

/// A model that uses every option of `@Attribute` and `@Relationship`.
@Model final class Specimen {
  private var secret = "s"
  private(set) var fixed = UUID()
  var description_: String
  var count = 1
  var list: [Data] = []
  @Attribute(originalName: "former") var renamed: String?
  @Attribute(hashModifier: "v2") var modified: String?
  @Attribute(.externalStorage) var blob: Data?
  @Attribute(.ephemeral) var passing: String?
  @Attribute(.spotlight, .allowsCloudEncryption) var indexed: String?
  @Attribute(.preserveValueOnDeletion) var kept: String?
  @Transient var transient = 3
  var computed: Int { count + 1 }
  @Relationship(deleteRule: .noAction, minimumModelCount: 1, maximumModelCount: 2) var parts: [Part] = []

  init(name: String) { description_ = name }

  static func newSecret() -> String { Specimen(name: "").secret }
}

@Model final class Part {
  init() {}
}

@Model final class Pair {
  #Unique<Pair>([\.left, \.right])
  var left: Int
  var right: Int
  var owner: Specimen?
  init(_ left: Int, _ right: Int) {
    self.left = left
    self.right = right
  }
}

/// The schema and the store's model for various declarations.
struct DeclarationTests {
  private let _place: URL

  init() throws { _place = try TemporaryPlace.makeDirectory().appendingPathComponent("specimens.store") }

  /// Returns the entity in the store's own model.
  private func _entity(_ name: String = "Specimen") throws -> NSEntityDescription {
    try withExtendedLifetime(
      ModelContainer(
        for: Schema([Specimen.self, Pair.self]), configurations: ModelConfiguration(url: _place))
    ) {}
    return try #require(NSManagedObjectModel.load(fromStoreAt: _place).entitiesByName[name])
  }

  @Test func `every stored property is there, whatever its access`() throws {
    let names = try Set(_entity().propertiesByName.keys)
    #expect(names.isSuperset(of: ["secret", "fixed", "description_", "count", "list", "parts"]))
    #expect(names.isDisjoint(with: ["transient", "computed", "_secret", "_count"]))
  }

  @Test func `an entity is named after its class alone`() {
    #expect(Schema.entityName(for: Bar.Cocktail.self) == "Cocktail")
    #expect(Schema([Bar.Cocktail.self]).entitiesByName["Cocktail"] != nil)
  }

  @Test func `initial values of basic types are the model's defaults`() throws {
    let entity = try _entity()
    #expect((entity.attributesByName["count"]?.defaultValue as? NSNumber)?.intValue == 1)
    #expect(entity.attributesByName["secret"]?.defaultValue as? String == "s")
    #expect(entity.attributesByName["fixed"]?.defaultValue is UUID)
    #expect(entity.attributesByName["list"]?.defaultValue == nil)
    #expect(entity.attributesByName["description_"]?.defaultValue == nil)
  }

  @Test func `each instance has an initial value of its own`() throws {
    #expect(Specimen(name: "a").fixed != Specimen(name: "b").fixed)
  }

  @Test func `names from before and hash modifiers are kept`() throws {
    let entity = try _entity()
    #expect(entity.attributesByName["renamed"]?.renamingIdentifier == "former")
    #expect(entity.attributesByName["modified"]?.versionHashModifier == "v2")
    #expect(entity.attributesByName["count"]?.renamingIdentifier == "count")
    #expect(entity.renamingIdentifier == "Specimen")
  }

  @Test func `options are those of the attribute`() throws {
    let attributes = try _entity().attributesByName
    #expect(attributes["blob"]?.allowsExternalBinaryDataStorage == true)
    #expect(attributes["passing"]?.isTransient == true)
    #expect(attributes["kept"]?.preservesValueInHistoryOnDeletion == true)
    #expect(attributes["indexed"]?.isIndexedBySpotlight == true)
  }

  @Test func `relationships have the counts and rules that are given`() throws {
    let (specimen, pair) = (try _entity(), try _entity("Pair"))
    let parts = try #require(specimen.relationshipsByName["parts"])
    #expect(parts.minCount == 1 && parts.maxCount == 2 && parts.deleteRule == .noActionDeleteRule)
    #expect(!parts.isOptional && !parts.isOrdered && parts.inverseRelationship == nil)
    let owner = try #require(pair.relationshipsByName["owner"])
    #expect(owner.minCount == 0 && owner.maxCount == 1 && owner.isOptional)
    #expect(owner.deleteRule == .nullifyDeleteRule)
  }

  @Test func `a constraint over several properties is one`() throws {
    #expect(try _entity("Pair").uniquenessConstraints as? [[String]] == [["left", "right"]])
    let context = ModelContext(
      try ModelContainer(for: Pair.self, configurations: .init(isStoredInMemoryOnly: true)))
    for pair in [Pair(1, 1), Pair(1, 2), Pair(1, 1)] {
      context.insert(pair)
      try context.save()
    }
    #expect(try context.fetchCount(FetchDescriptor<Pair>()) == 2)
  }

  @Test func `uniqueness enters the hash, indexes and defaults don't`() throws {
    func hash(_ change: (Schema.Entity) -> Void) throws -> Data? {
      let entity = Schema.Entity("E")
      entity.storedProperties = [Schema.Attribute(name: "a", valueType: Int.self)]
      change(entity)
      let place = try TemporaryPlace.makeDirectory().appendingPathComponent("e.store")
      try withExtendedLifetime(
        ModelContainer(for: Schema(entity), configurations: ModelConfiguration(url: place))
      ) {}
      let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: place)
      return (metadata[NSStoreModelVersionHashesKey] as? [String: Data])?["E"]
    }
    let plain = try hash { _ in }
    #expect(try hash { $0.indices = [["a"]] } == plain)
    #expect(try hash { $0.attributesByName["a"]?.defaultValue = 3 } == plain)
    #expect(try hash { $0.uniquenessConstraints = [["a"]] } != plain)
  }

  @Test func `an ephemeral value is tracked and not stored`() throws {
    let context = ModelContext(
      try ModelContainer(for: Specimen.self, configurations: .init(isStoredInMemoryOnly: true)))
    let specimen = Specimen(name: "a")
    specimen.parts = [Part()]
    context.insert(specimen)
    try context.save()
    specimen.passing = "x"
    #expect(context.hasChanges)
    try context.save()
    #expect(try context.stored(Specimen.self).map(\.passing) == [nil])
  }

  @Test func `counts are checked by the save`() throws {
    let context = ModelContext(
      try ModelContainer(for: Specimen.self, configurations: .init(isStoredInMemoryOnly: true)))
    let specimen = Specimen(name: "a")
    context.insert(specimen)
    specimen.parts = [Part(), Part(), Part()]
    #expect(throws: (any Error).self) { try context.save() }
    #expect(context.hasChanges)
    specimen.parts = [Part()]
    try context.save()
    #expect(try context.stored(Specimen.self).map(\.parts.count) == [1])
  }

  @Test func `a to-many without inverse is stored`() throws {
    let context = ModelContext(
      try ModelContainer(for: Specimen.self, configurations: .init(isStoredInMemoryOnly: true)))
    let specimen = Specimen(name: "a")
    specimen.parts = [Part(), Part()]
    context.insert(specimen)
    try context.save()
    #expect(try context.stored(Specimen.self).map(\.parts.count) == [2])
  }
}

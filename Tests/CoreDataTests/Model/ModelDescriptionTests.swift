import Testing

@testable import CoreData

@Suite("Describing a model")
struct ModelDescriptionTests {
  @Test func `properties made in code have Core Data's defaults`() {
    #expect(NSAttributeDescription().isOptional)
    let relationship = NSRelationshipDescription()
    #expect(relationship.maxCount == 0)
    #expect(relationship.isToMany)
    #expect(relationship.deleteRule == .nullifyDeleteRule)
    #expect(NSEntityDescription().managedObjectClassName == "NSManagedObject")
  }

  @Test func `an entity keeps the expression of its name in Spotlight`() {
    let entity = NSEntityDescription()
    entity.coreSpotlightDisplayNameExpression = NSExpression(format: "title")
    #expect(entity.coreSpotlightDisplayNameExpression.keyPath == "title")
  }

  @Test func `a subentity has its parents' properties as well as its own`() {
    let sample = SampleLibrary()
    #expect(sample.author.superentity === sample.person)
    #expect(Set(sample.author.propertiesByName.keys) == ["name", "books"])
    #expect(sample.author.attributesByName["name"] === sample.name)
    #expect(sample.author.isKindOf(entity: sample.person))
    #expect(!sample.person.isKindOf(entity: sample.author))
  }

  @Test func `appending to a subentity leaves inherited properties alone`() {
    let sample = SampleLibrary()
    let age = NSAttributeDescription()
    age.name = "age"
    sample.author.properties.append(age)
    #expect(sample.name.entity === sample.person)
    #expect(age.entity === sample.author)
    #expect(sample.author.properties.map(\.name) == ["name", "books", "age"])
  }

  @Test func `a subentity moves when another parent takes it`() {
    let sample = SampleLibrary()
    sample.book.subentities = [sample.author]
    #expect(sample.author.superentity === sample.book)
    #expect(sample.person.subentities.isEmpty)
  }

  @Test func `relationships are found by destination`() {
    let sample = SampleLibrary()
    #expect(sample.author.relationships(forDestination: sample.book) == [sample.books])
    #expect(sample.author.relationships(forDestination: sample.author).isEmpty)
  }

  @Test func `an entity's subentities are taken into the model with it`() {
    let model = NSManagedObjectModel()
    let parent = NSEntityDescription()
    parent.name = "Parent"
    let child = NSEntityDescription()
    child.name = "Child"
    parent.subentities = [child]
    model.entities = [parent]
    #expect(Set(model.entitiesByName.keys) == ["Parent", "Child"])
    #expect(child.managedObjectModel === model)
  }

  @Test func `changing properties drops indexes here and below`() {
    let sample = SampleLibrary()
    let element = NSFetchIndexElementDescription(property: sample.name, collationType: .binary)
    sample.author.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
    #expect(sample.author.indexes.first?.entity === sample.author)
    #expect(element.indexDescription === sample.author.indexes.first)
    sample.person.properties = []
    #expect(sample.author.indexes.isEmpty)
  }

  @Test func `uniqueness constraints are read back as names`() {
    let sample = SampleLibrary()
    sample.book.uniquenessConstraints = [["title", sample.writer]]
    #expect(sample.book.uniquenessConstraints as? [[String]] == [["title", "writer"]])
  }

  @Test func `renaming identifier and class name fall back when reset`() {
    let sample = SampleLibrary()
    #expect(sample.title.renamingIdentifier == "title")
    sample.title.renamingIdentifier = "heading"
    #expect(sample.title.renamingIdentifier == "heading")
    sample.title.renamingIdentifier = nil
    #expect(sample.title.renamingIdentifier == "title")
    sample.book.managedObjectClassName = "App.Book"
    sample.book.managedObjectClassName = nil
    #expect(sample.book.managedObjectClassName == "NSManagedObject")
  }

  @Test func `the class of an attribute's values goes with its type`() {
    let attribute = NSAttributeDescription()
    attribute.type = .decimal
    #expect(attribute.attributeType == .decimalAttributeType)
    #expect(attribute.attributeValueClassName == "NSDecimalNumber")
    attribute.type = .transformable
    #expect(attribute.attributeValueClassName == nil)
    attribute.attributeValueClassName = "NSArray"
    #expect(attribute.attributeValueClassName == "NSArray")
  }

  @Test func `configurations select entities by name, nil selects all`() {
    let sample = SampleLibrary()
    sample.model.setEntities([sample.book], forConfigurationName: "Books")
    #expect(sample.model.configurations == ["Books"])
    #expect(sample.model.entities(forConfigurationName: "Books") == [sample.book])
    #expect(sample.model.entities(forConfigurationName: nil)?.count == 3)
    #expect(sample.model.entities(forConfigurationName: "PF_DEFAULT_CONFIGURATION_NAME")?.count == 3)
    #expect(sample.model.entities(forConfigurationName: "Other") == nil)
  }

  @Test func `a copied model is connected within itself`() throws {
    let sample = SampleLibrary()
    let element = NSFetchIndexElementDescription(property: sample.title, collationType: .binary)
    sample.book.indexes = [NSFetchIndexDescription(name: "byTitle", elements: [element])]
    sample.model.setEntities([sample.book], forConfigurationName: "Books")
    sample.model.versionIdentifiers = ["1"]
    let copy = sample.model.copy() as! NSManagedObjectModel
    let author = try #require(copy.entitiesByName["Author"])
    let book = try #require(copy.entitiesByName["Book"])
    #expect(author !== sample.author)
    #expect(author.superentity === copy.entitiesByName["Person"])
    let books = try #require(author.relationshipsByName["books"])
    #expect(books.destinationEntity === book)
    #expect(books.inverseRelationship === book.relationshipsByName["writer"])
    #expect(book.indexes.first?.elements.first?.property === book.propertiesByName["title"])
    #expect(copy.entities(forConfigurationName: "Books") == [book])
    #expect(copy.versionIdentifiers == ["1"])
    #expect(copy.entityVersionHashesByName == sample.model.entityVersionHashesByName)
  }

  @Test func `merging joins relationships across models`() throws {
    let one = SampleLibrary()
    let two = SampleLibrary()
    let shop = NSEntityDescription()
    shop.name = "Shop"
    two.model.entities.append(shop)
    let merged = try #require(NSManagedObjectModel(byMerging: [one.model, two.model]))
    #expect(Set(merged.entitiesByName.keys) == ["Person", "Author", "Book", "Shop"])
    #expect(merged.entities.count == 4)
    #expect(one.model.entities.count == 3)
    #expect(NSManagedObjectModel(byMerging: nil) == nil)
  }

  @Test func `merging for a store takes the versions it was saved with`() throws {
    let old = SampleLibrary()
    let new = SampleLibrary()
    new.title.isOptional = true
    let metadata: [String: Any] = ["NSStoreModelVersionHashes": old.model.entityVersionHashesByName]
    let found = try #require(
      NSManagedObjectModel(byMerging: [new.model, old.model], forStoreMetadata: metadata))
    #expect(found.entitiesByName["Book"]?.propertiesByName["title"]?.isOptional == false)
    #expect(NSManagedObjectModel(byMerging: [new.model], forStoreMetadata: metadata) == nil)
  }

  @Test func `a model fits a store with the configuration's hashes`() {
    let sample = SampleLibrary()
    sample.model.setEntities([sample.book], forConfigurationName: "Books")
    var metadata: [String: Any] = ["NSStoreModelVersionHashes": sample.model.entityVersionHashesByName]
    #expect(sample.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(!sample.model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
    metadata["NSStoreModelVersionHashes"] = ["Book": sample.book.versionHash]
    #expect(sample.model.isConfiguration(withName: "Books", compatibleWithStoreMetadata: metadata))
    #expect(!sample.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: [:]))
  }

  @Test func `property and entity hashes are 32 bytes of their shape`() {
    let sample = SampleLibrary()
    let before = sample.book.versionHash
    #expect(before.count == 32)
    #expect(sample.model.entityVersionHashesByName["Book"] == before)
    sample.title.defaultValue = "x"
    #expect(sample.book.versionHash == before)
    let checksum = sample.model.versionChecksum
    sample.title.versionHashModifier = "2"
    #expect(sample.book.versionHash != before)
    #expect(sample.model.versionChecksum != checksum)
    #expect(Data(base64Encoded: checksum)?.count == 32)
  }
}

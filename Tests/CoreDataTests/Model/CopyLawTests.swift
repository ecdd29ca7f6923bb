import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// A copy has every setting of its original.
///
/// The law goes by the stored properties of the objects: one that is added later has to be set here, and copied.
@Suite struct CopyLawTests {
  /// Objects whose settings all differ from those of a new one.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case attribute, composite, derived, relationship, fetched, computed, entity, index, store
    case fetch, insertion, update, deletion, history

    var testDescription: String { rawValue }
  }

  private static func _set(_ property: NSPropertyDescription) {
    property.name = "it"
    property.isOptional = false
    property.isTransient = true
    property.userInfo = ["a": "b"]
    property.isIndexedBySpotlight = true
    property.versionHashModifier = "2"
    property.renamingIdentifier = "that"
    property.setValidationPredicates([NSPredicate(value: true)], withValidationWarnings: ["no"])
  }

  private static func _setAttribute(_ attribute: NSAttributeDescription) {
    _set(attribute)
    attribute.attributeType = .transformableAttributeType
    attribute.attributeValueClassName = "NSArray"
    attribute.defaultValue = NSArray()
    attribute.fallbackValue = NSArray()
    attribute.valueTransformerName = "Boxes"
    attribute.allowsExternalBinaryDataStorage = true
    attribute.preservesValueInHistoryOnDeletion = true
    attribute.allowsCloudEncryption = true
    attribute.limits.regularExpression = "a+"
    attribute.usesScalarValueType = true
    attribute.fileValidations = [ValidationSchema(predicate: "SELF != nil", warning: "no")]
  }

  // Referred to weakly.
  nonisolated(unsafe) private static let _other = NSEntityDescription()
  nonisolated(unsafe) private static let _inverse = NSRelationshipDescription()

  /// A new object, and one with all settings.
  private static func _make(_ kind: Kind) -> (new: NSObject, set: NSObject) {
    switch kind {
    case .attribute:
      let it = NSAttributeDescription()
      _setAttribute(it)
      return (NSAttributeDescription(), it)
    case .composite:
      let it = NSCompositeAttributeDescription()
      _setAttribute(it)
      it.elements = [NSAttributeDescription()]
      it.compositeName = "Place"
      return (NSCompositeAttributeDescription(), it)
    case .derived:
      let it = NSDerivedAttributeDescription()
      _setAttribute(it)
      it.derivationExpression = NSExpression(format: "now()")
      return (NSDerivedAttributeDescription(), it)
    case .relationship:
      let it = NSRelationshipDescription()
      _set(it)
      it.destinationEntity = _other
      it.inverseRelationship = _inverse
      (it.minCount, it.maxCount) = (2, 3)
      it.deleteRule = .cascadeDeleteRule
      it.isOrdered = true
      return (NSRelationshipDescription(), it)
    case .fetched:
      let it = NSFetchedPropertyDescription()
      _set(it)
      it.fetchRequest = NSFetchRequest(entityName: "Book")
      return (NSFetchedPropertyDescription(), it)
    case .computed:
      let it = NSExpressionDescription()
      _set(it)
      it.expression = NSExpression(format: "pages + 1")
      it.expressionResultType = .integer32AttributeType
      return (NSExpressionDescription(), it)
    case .entity:
      let it = NSEntityDescription()
      it.name = "Book"
      it.managedObjectClassName = "Book"
      it.module = "Shelf"
      it.objectClass = NSManagedObject.self
      it.isAbstract = true
      it.versionHashModifier = "2"
      it.renamingIdentifier = "Volume"
      let title = NSAttributeDescription()
      title.name = "title"
      it.properties = [title]
      it.indexes = [
        NSFetchIndexDescription(
          name: "byTitle", elements: [.init(property: title, collationType: .binary)])
      ]
      it.uniquenessConstraints = [["title"]]
      it.coreSpotlightDisplayNameExpression = NSExpression(format: "title")
      it.compoundIndexNames = [["title"]]
      it.spotlightExpressionText = "title"
      it.userInfo = ["a": "b"]
      return (NSEntityDescription(), it)
    case .index:
      let it = NSFetchIndexDescription(
        name: "byTitle", elements: [.init(property: NSAttributeDescription(), collationType: .rTree)])
      it.elements[0].isAscending = false
      it.partialIndexPredicate = NSPredicate(value: true)
      return (NSFetchIndexDescription(name: "", elements: nil), it)
    case .store:
      let it = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/tmp/a.store"))
      it.type = NSInMemoryStoreType
      it.configuration = "Local"
      it.setOption(true as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
      it.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
      it.shouldAddStoreAsynchronously = true
      return (NSPersistentStoreDescription(), it)
    case .fetch:
      let it = NSFetchRequest<NSManagedObject>(entityName: "Book")
      it.entity = NSEntityDescription()
      it.predicate = NSPredicate(value: true)
      it.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      (it.fetchLimit, it.fetchOffset, it.fetchBatchSize) = (1, 2, 3)
      it.resultType = .dictionaryResultType
      it.includesSubentities = false
      it.includesPropertyValues = false
      it.returnsObjectsAsFaults = false
      it.relationshipKeyPathsForPrefetching = ["author"]
      it.includesPendingChanges = false
      it.returnsDistinctResults = true
      it.propertiesToFetch = ["title"]
      it.shouldRefreshRefetchedObjects = true
      it.propertiesToGroupBy = ["title"]
      it.havingPredicate = NSPredicate(value: true)
      it.affectedStores = []
      return (NSFetchRequest<NSManagedObject>(), it)
    case .insertion:
      let it = NSBatchInsertRequest(entityName: "Book", objects: [["title": "Emma"]])
      it.dictionaryHandler = { _ in true }
      it.managedObjectHandler = { _ in true }
      it.resultType = .count
      it.affectedStores = []
      return (NSBatchInsertRequest(entityName: "", objects: []), it)
    case .update:
      let it = NSBatchUpdateRequest(entityName: "Book")
      it.predicate = NSPredicate(value: true)
      it.includesSubentities = false
      it.resultType = .updatedObjectsCountResultType
      it.propertiesToUpdate = ["title": "Emma"]
      it.affectedStores = []
      return (NSBatchUpdateRequest(entityName: ""), it)
    case .deletion:
      let it = NSBatchDeleteRequest(objectIDs: [])
      it.resultType = .resultTypeCount
      it.affectedStores = []
      return (NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>()), it)
    case .history:
      let it = NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSince1970: 7))
      it.resultType = .count
      it.fetchRequest = NSFetchRequest()
      it.affectedStores = []
      return (NSPersistentHistoryChangeRequest.fetchHistory(after: Date(timeIntervalSince1970: 8)), it)
    }
  }

  /// Belongs to the place of the original, or is derived.
  private static let _notCopied: Set<String> = [
    "__entity", "composite", "isFrozen", "weakAnchor", "_model", "__superentity", "_subentities",
    "frozenReference",
    // Deprecated, without effect.
    "_isStoredInExternalRecord", "_isIndexed",
  ]

  /// What a description has in place of another setting.
  private static let _alternatives: Set<String> = [
    "_entity", "_entityName", "_text", "_requestSchema", "_predicateText",
  ]

  /// The stored properties of an object, as texts.
  private static func _settings(_ object: NSObject) -> [String: String] {
    var found: [String: String] = [:]
    var next: Mirror? = Mirror(reflecting: object)
    while let mirror = next {
      for child in mirror.children {
        if let label = child.label, !_notCopied.contains(label) { found[label] = _text(child.value) }
      }
      next = mirror.superclassMirror
    }
    return found
  }

  private static func _text(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    switch mirror.displayStyle {
    case .optional: return mirror.children.first.map { _text($0.value) } ?? "nil"
    case .collection: return "[" + mirror.children.map { _text($0.value) }.joined(separator: ", ") + "]"
    case .class: return "\(type(of: value))"
    default: return type(of: value) is AnyClass ? "\(type(of: value))" : String(describing: value)
    }
  }

  @Test(arguments: Kind.allCases)
  func `a copy has every setting of its original`(_ kind: Kind) throws {
    let (new, set) = Self._make(kind)
    let settings = Self._settings(set)
    let same = Self._settings(new).filter {
      settings[$0.key] == $0.value && !Self._alternatives.contains($0.key)
    }
    #expect(same.isEmpty, "not set by this test")
    let copy = try #require(set.copy() as? NSObject)
    #expect(copy !== set)
    let copied = Self._settings(copy)
    let lost = settings.filter { copied[$0.key] != $0.value }
    #expect(lost.isEmpty, "\(copied.filter { lost[$0.key] != nil })")
  }

  @Test func `the index of a copied entity is of the copy's attribute`() throws {
    let entity = try #require(Self._make(.entity).set.copy() as? NSEntityDescription)
    let element = try #require(entity.indexes.first?.elements.first)
    #expect(element.property === entity.attributesByName["title"])
  }
}

import CoreData
import Foundation
import Testing

/// A transformer that is never registered.
final class MirrorTransformer: ValueTransformer {
  override func transformedValue(_ value: Any?) -> Any? {
    (value as? String).map { Data($0.reversed().map { String($0) }.joined().utf8) }
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
  }
}

final class SpelledTag: NSManagedObject {
  var name: String? {
    get { value(forKey: "name") as? String }
    set { setValue(newValue, forKey: "name") }
  }
}

/// Alternative spellings in Core Data's interface.
@Suite struct SpellingTests {
  @Test func `versions of Core Data are in order`() {
    #expect(NSCoreDataVersionNumber > NSCoreDataVersionNumber10_11_3)
    #expect(NSCoreDataVersionNumber10_11 > NSCoreDataVersionNumber10_4)
    #expect(NSCoreDataVersionNumber_iPhoneOS_9_3 == 641.6)
  }

  @Test func `a closure for asynchronous fetches has its name`() {
    let block: NSPersistentStoreAsynchronousFetchResultCompletionBlock = { _ in }
    let request = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"), completionBlock: block)
    #expect(request.completionBlock != nil)
  }

  @available(*, deprecated)
  private func formerNames() -> [CocoaError.Code] {
    [.managedObjectValidationError, CocoaError.sqliteError, .inferredMappingModelError]
  }

  @available(*, deprecated)
  @Test func `error codes have their former names`() {
    #expect(formerNames() == [.managedObjectValidation, .sqlite, .inferredMappingModel])
  }

  @available(*, deprecated)
  @Test func `a coordinators lock is always free`() {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LibraryModel.make())
    #expect(coordinator.tryLock())
    coordinator.unlock()
  }

  @Test func `an expression is made of a Swift key path`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Tag"]!.managedObjectClassName = NSStringFromClass(SpelledTag.self)
    let stack = try TestStack(.sqlite, model: model)
    #expect(NSExpression(forKeyPath: \SpelledTag.name).keyPath == "name")
    withExtendedLifetime(stack) {}
  }

  @Test func `a transformer is made of the class of its name`() throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["extra"]!.valueTransformerName = "MirrorTransformer"
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["extra": "abc"])
      try stack.context.save()
    }
    try stack.fresh { context in
      try #expect(context.all("Book").first?.value(forKey: "extra") as? String == "abc")
    }
    #expect(ValueTransformer(forName: NSValueTransformerName("MirrorTransformer")) is MirrorTransformer)
  }

  @Test(arguments: ["NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromData"])
  func `the secure transformer is known by its class too`(_ name: String) throws {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.attributesByName["extra"]!.valueTransformerName = name
    let stack = try TestStack(.sqlite, model: model)
    try stack.context.performAndWait {
      stack.context.insert("Book", ["extra": ["a", "b"]])
      try stack.context.save()
    }
    try stack.fresh { context in
      try #expect(context.all("Book").first?.value(forKey: "extra") as? [String] == ["a", "b"])
    }
  }

  @Test func `an objects description shows its values as one writes them`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let book = stack.context.insert(
        "Book",
        [
          "title": "Effi", "pages": 7, "inPrint": true, "cover": Data([1, 2]),
          "published": Date(timeIntervalSinceReferenceDate: 0),
        ])
      try stack.context.save()
      let text = book.description
      #expect(text.contains("title = \"Effi\"; "))
      #expect(text.contains("pages = 7; "))
      #expect(text.contains("inPrint = true; "))
      #expect(text.contains("cover = 2 bytes; "))
      #expect(text.contains("published = 2001-01-01 00:00:00 +0000; "))
      #expect(text.contains("author = nil; "))
    }
  }
}

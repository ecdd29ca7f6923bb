import CoreData
import Foundation
import Testing

/// A book whose context ignores changes to its mark, and which can write a primitive before it is saved.
final class QuietBook: NSManagedObject {
  var inWillSave: ((QuietBook) -> Void)?

  override class func contextShouldIgnoreChanges(forKey key: String) -> Bool {
    key == "mark" || key == "title"
  }
  override func willSave() { inWillSave?(self) }

  static func model() -> NSManagedObjectModel {
    let model = LibraryModel.make()
    model.entitiesByName["Book"]!.managedObjectClassName = NSStringFromClass(QuietBook.self)
    return model
  }
}

/// What a subclass can and cannot change.
@Suite struct ObjectClassTests {
  @Test(arguments: Setting.direct)
  func `equality and hash are identity`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author", ["name": "Ada"])
      let hash = ada.hash
      let twin = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      #expect(ada.isEqual(ada))
      #expect(!ada.isEqual(twin) && ada != twin)
      #expect(ada.hash == hash, "a new ID does not matter to sets that hold the object")
      let id = ada.objectID
      other.performAndWait { #expect(other.object(with: id) != ada, "each context has its own object") }
    }
  }

  @available(*, deprecated)  // So that the deprecated call below does not warn.
  private func madeWithoutEntity() -> NSManagedObject { NSManagedObject() }

  @Test func `an object made without its initializer has no entity`() {
    let object = (self as any MakesUnusable).make()
    #expect(object.managedObjectContext == nil)
    #expect(object.entity.name == nil)
    #expect(object.entity.properties.isEmpty)
    #expect(!object.isInserted && !object.hasChanges)
  }

  @Test func `an object without entity is not inserted`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let stack = try TestStack(.memory)
      stack.context.performAndWait { stack.context.insert((ObjectClassTests() as any MakesUnusable).make()) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("without its designated initializer"))
    #expect(text.contains("is not of the model"))
  }

  @Test(arguments: Setting.allCases)
  func `changes of an ignored transient leave the object clean`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: QuietBook.model())
    let book = stack.context.performAndWait { stack.context.insert("Book", ["title": "B"]) }
    try stack.save()
    stack.context.performAndWait {
      book.setValue("seen", forKey: "mark")
      #expect(book.text("mark") == "seen")
      #expect(!book.hasChanges && !stack.context.hasChanges)
      book.setValue("C", forKey: "title")
      #expect(book.hasChanges, "only transient attributes can be left out")
      #expect(book.changedValues().keys.sorted() == ["title"])
      #expect(book.text("mark") == "seen")
    }
    #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
  }

  @Test(arguments: Setting.direct)
  func `a mandatory value cleared in willSave is saved`(_ setting: Setting) throws {
    let model = QuietBook.model()
    model.entitiesByName["Publication"]!.attributesByName["title"]!.isOptional = false
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      let book = try #require(stack.context.insert("Book", ["title": "B"]) as? QuietBook)
      book.inWillSave = { $0.setPrimitiveValue(nil, forKey: "title") }
      try stack.context.save()
      #expect(book.text("title") == nil)
      book.inWillSave = nil
      book.setValue(1, forKey: "pages")
      #expect(throws: CocoaError.self, "set before the save, it is checked") { try stack.context.save() }
    }
    try stack.fresh { context in try #expect(context.all("Book")[0].text("title") == nil) }
  }

  @Test(arguments: Setting.direct)
  func `an accessor after the primitive is checked again`(_ setting: Setting) throws {
    let model = QuietBook.model()
    model.entitiesByName["Publication"]!.attributesByName["title"]!.isOptional = false
    let stack = try TestStack(setting, model: model)
    try stack.context.performAndWait {
      let book = try #require(stack.context.insert("Book", ["title": "B"]) as? QuietBook)
      var calls = 0
      book.inWillSave = { book in
        calls += 1
        guard calls == 1 else { return }
        book.setPrimitiveValue("C", forKey: "title")
        book.setValue(nil, forKey: "title")
      }
      #expect(throws: CocoaError.self) { try stack.context.save() }
    }
  }

  @Test(arguments: Setting.allCases)
  func `an unset scalar reads zero by accessor and nil by key`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let book = stack.context.performAndWait { stack.context.insert("Book") }
    try stack.save()
    stack.context.performAndWait {
      stack.context.refresh(book, mergeChanges: false)
      #expect(ManagedKey<Int64>("copies")[book] == 0)
      #expect(ManagedKey<Double>("price")[book] == 0)
      #expect(book.value(forKey: "copies") == nil)
      #expect(book.value(forKey: "price") == nil)
    }
  }
}

private protocol MakesUnusable {
  func make() -> NSManagedObject
}

extension ObjectClassTests: MakesUnusable {
  @available(*, deprecated)
  fileprivate func make() -> NSManagedObject { madeWithoutEntity() }
}

import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreData

/// The unsaved state that a context publishes while it changes, and both ends of links that others have
/// moved.
@Suite struct PublishedStateTests {
  private final class NotingTransformer: ValueTransformer {
    // Written on the parent's queue, read after its work is done.
    nonisolated(unsafe) static var check: (() -> Void)?
    override class func transformedValueClass() -> AnyClass { NSData.self }
    override func transformedValue(_ value: Any?) -> Any? {
      Self.check?()
      return (value as? String).map { NSData(data: Data($0.utf8)) }
    }
    override func reverseTransformedValue(_ value: Any?) -> Any? {
      Self.check?()
      return (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }
  }

  @Test func `unsaved state is not called published before readers find it`() throws {
    let name = NSValueTransformerName("PublishedStateTests.NotingTransformer")
    ValueTransformer.setValueTransformer(NotingTransformer(), forName: name)
    let model = LibraryModel.make()
    let extra = model.entitiesByName["Book"]!.attributesByName["extra"]!
    extra.valueTransformerName = name.rawValue
    let stack = try TestStack(.nestedOverMemory, model: model)
    nonisolated(unsafe) var wasStale: [Bool] = []
    let overlay = stack.root.overlay
    NotingTransformer.check = { wasStale.append(overlay.isStale) }
    defer { NotingTransformer.check = nil }
    stack.root.performAndWait {
      stack.root.insert("Book", ["extra": "text"])
      stack.root.processPendingChanges()
    }
    // The value is encoded while the state is collected: another child that reads now must wait for it.
    #expect(wasStale.first == true)
    #expect(!overlay.isStale)
  }

  @Test func `a member added by temporary ID is removed by permanent ID`() throws {
    let stack = try TestStack(.sqlite)
    try stack.context.performAndWait {
      let tag = stack.context.insert("Tag")
      let temporary = tag.objectID
      try stack.context.save()
      let permanent = tag.objectID
      #expect(temporary.isTemporaryID && !permanent.isTemporaryID)
      let added = ToManyDelta(added: [temporary], removed: [], order: nil)
      let removed = ToManyDelta(added: [], removed: [permanent], order: nil)
      #expect(added.followed(by: removed).added.isEmpty)
      #expect(removed.followed(by: added).removed.isEmpty)
      #expect(added.followed(by: ToManyDelta(added: [permanent], removed: [], order: nil)).added.count == 1)
      #expect(ToManyDelta.composed([removed, added]).added.isEmpty)
      #expect(ToManyDelta.composed([added, removed]).removed.isEmpty)
    }
  }

  @Test func `a save is delivered while waiting ones are put together`() throws {
    let stack = try TestStack(.memory)
    let overlay = PublishedOverlay()
    let id = stack.context.performAndWait { stack.context.insert("Tag").objectID }
    let layer = ChangeLayer([
      ChangeLayer.Entry(kind: .deleted, id: id, base: nil, row: nil, changed: SlotSet(), isWhole: false)
    ])
    overlay.deliver(layer)
    let seen = overlay.visibleLayers { inbox in
      // As the main queue delivers it: it must not wait for this.
      overlay.deliver(layer)
      return inbox.layers()
    }
    #expect(seen.count == 1)
    #expect(overlay.visibleLayers.count == 2)
  }

  @Test(arguments: Setting.direct)
  func `refreshing refetched objects moves both ends of a link`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.sibling()
    let (book, other) = try stack.root.performAndWait {
      let book = stack.root.insert("Book", ["author": stack.root.insert("Author", ["name": "A"])])
      let other = stack.root.insert("Author", ["name": "B"])
      try stack.root.save()
      return (book.objectID, other.objectID)
    }
    try context.performAndWait {
      let mine = context.object(with: book)
      let (old, new) = (try #require(mine.object("author")), context.object(with: other))
      #expect(old.objects("books") == [mine])
      #expect(new.objects("books").isEmpty)
      try stack.root.performAndWait {
        stack.root.object(with: book).setValue(stack.root.object(with: other), forKey: "author")
        try stack.root.save()
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.shouldRefreshRefetchedObjects = true
      _ = try context.fetch(request)
      #expect(mine.object("author") === new)
      #expect(new.objects("books") == [mine])
      #expect(old.objects("books").isEmpty)
    }
  }
}

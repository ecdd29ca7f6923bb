import CoreData
import Foundation
import Testing

/// Saves that touch objects whose rows have been deleted.
@Suite struct VanishedObjectTests {
  /// The library, with mandatory author names.
  private func model() throws -> NSManagedObjectModel {
    let model = LibraryModel.make()
    try #require(model.entitiesByName["Author"]?.attributesByName["name"]).isOptional = false
    return model
  }

  /// Returns a fault of an author whose row another context has deleted.
  private func vanished(in context: NSManagedObjectContext, _ stack: TestStack) throws -> NSManagedObject {
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    let fault = context.object(with: id)
    try stack.root.performAndWait {
      stack.root.delete(stack.root.object(with: id))
      try stack.root.save()
    }
    return fault
  }

  @Test(arguments: Setting.direct)
  func `an object found deleted in validation does not stop the save`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: try model())
    let context = stack.sibling()
    try context.performAndWait {
      let fault = try vanished(in: context, stack)
      let book = context.insert("Book", ["title": "Notes", "author": fault])
      try context.save()
      #expect(!book.hasChanges && !context.hasChanges)
      #expect(fault.managedObjectContext == nil || fault.isDeleted)
    }
    try stack.fresh { fresh in
      let books = try fresh.all("Book")
      #expect(books.map { $0.text("title") } == ["Notes"])
      #expect(books[0].object("author") == nil)
    }
  }

  @Test(arguments: Setting.direct)
  func `a to-many does not keep a member that the save found deleted`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let (context, other) = (stack.sibling(), stack.sibling())
    let (tag, book) = try other.performAndWait {
      let tag = other.insert("Tag", ["name": "Math"])
      let book = other.insert("Book", ["title": "Notes", "tags": Set([tag])])
      try other.save()
      return (tag.objectID, book.objectID)
    }
    try context.performAndWait {
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      let math = try context.existingObject(with: tag)
      #expect(math.objects("books").map(\.objectID) == [book])
      context.object(with: book).setValue("Again", forKey: "title")
      try other.performAndWait {
        other.delete(other.object(with: book))
        try other.save()
      }
      try context.save()
      #expect(math.objects("books").isEmpty && !context.hasChanges)
    }
  }

  @Test(arguments: Setting.direct)
  func `a deletion passes over a member that the parent deleted`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let author = try stack.stored("Author", ["name": "Ada"]).objectID
    let book = try stack.root.performAndWait {
      let author = stack.root.object(with: author)
      let book = stack.root.insert("Book", ["title": "Notes", "author": author])
      try stack.root.save()
      return book.objectID
    }
    let parent = stack.child(of: stack.root)
    let child = HandledFaults(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    try child.performAndWait {
      let (author, book) = (child.object(with: author), child.object(with: book))
      #expect(author.objects("books") == [book])
      parent.performAndWait {
        parent.delete(parent.object(with: book.objectID))
        parent.processPendingChanges()
      }
      child.delete(author)
      child.refresh(book, mergeChanges: true)
      child.processPendingChanges()
      #expect(child.faults == 0)
      try child.save()
    }
  }

  /// Counts faults that could not be fulfilled.
  private final class HandledFaults: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked: used only on its queue.
    var faults = 0

    override func shouldHandleInaccessibleFault(
      _ fault: NSManagedObject, for oid: NSManagedObjectID,
      triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
      faults += 1
      return true
    }
  }

  @Test(arguments: Setting.direct)
  func `other objects are validated all the same`(_ setting: Setting) throws {
    let stack = try TestStack(setting, model: try model())
    let context = stack.sibling()
    try context.performAndWait {
      let fault = try vanished(in: context, stack)
      context.insert("Book", ["title": "Notes", "author": fault])
      context.insert("Author")
      let error = #expect(throws: CocoaError.self) { try context.save() }
      #expect(error?.code == .validationMissingMandatoryProperty)
    }
  }
}

import Foundation
import Testing

@testable import CoreData

/// A to-many that a context read before another context linked a book to its author has the book once the save is
/// merged, however the context met the book meanwhile.
///
/// The other context's save leaves the author to what this context saved meanwhile, which then saves the author again:
/// the merged save says nothing of the author.
@Suite struct MembersReadBeforeTests {
  /// How the context met the book before it merged the save.
  enum Meeting: String, CaseIterable, CustomTestStringConvertible {
    case notYet = "not yet"
    case asFault = "as a fault"
    case fired
    case byList = "by a list"
    var testDescription: String { rawValue }
  }

  @Test(arguments: [Setting.sqlite], Meeting.allCases)
  func `a book that another coordinator inserted`(_ setting: Setting, _ meeting: Meeting) throws {
    let stack = try TestStack(setting)
    let other = try stack.otherCoordinator().newContext()
    try _check(stack, other, meeting) { other.insert("Book", ["title": "Sketch", "author": $0]) }
  }

  @Test(arguments: [Setting.sqlite], Meeting.allCases)
  func `a book that another coordinator moved`(_ setting: Setting, _ meeting: Meeting) throws {
    let stack = try TestStack(setting)
    let other = try stack.otherCoordinator().newContext()
    try _check(stack, other, meeting) { try #require(other.all("Book").first).setValue($0, forKey: "author") }
  }

  @Test(arguments: Setting.direct, Meeting.allCases)
  func `a book that another context inserted`(_ setting: Setting, _ meeting: Meeting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    try _check(stack, other, meeting) { other.insert("Book", ["title": "Sketch", "author": $0]) }
  }

  @Test(arguments: Setting.direct, Meeting.allCases)
  func `a book that another context moved`(_ setting: Setting, _ meeting: Meeting) throws {
    let stack = try TestStack(setting)
    let other = stack.sibling()
    try _check(stack, other, meeting) { try #require(other.all("Book").first).setValue($0, forKey: "author") }
  }

  private func _check(
    _ stack: TestStack, _ other: NSManagedObjectContext, _ meeting: Meeting,
    change: (_ author: NSManagedObject) throws -> Void
  ) throws {
    let context = stack.sibling()
    _ = try stack.stored("Book", ["title": "Notes"])
    let ada = try context.performAndWait {
      let ada = context.insert("Author", ["name": "Ada"])
      try context.save()
      #expect(ada.objects("books").isEmpty)
      return ada
    }
    func makeOlder() throws {
      try context.performAndWait {
        ada.setValue((ada.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
        try context.save()
      }
    }
    let uri = ada.objectID.uriRepresentation()
    other.mergePolicy = NSMergePolicy.rollback
    let save = try other.saved {
      let id = try #require(other.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
      try change(try other.existingObject(with: id))
      try makeOlder()
    }
    try makeOlder()
    #expect(try stack.fresh { try $0.all("Author").first?.objects("books").count } == 1)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "author == %@", ada)
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      var held: [AnyObject] = []
      switch meeting {
      case .notYet: break
      case .asFault: held = try context.fetch(request)
      case .fired: held = try context.fetch(request).filter { $0.text("title") != nil }
      case .byList:
        let list = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try list.performFetch()
        held = [list]
      }
      context.mergeChanges(fromContextDidSave: save)
      #expect(ada.objects("books").count == 1)
      withExtendedLifetime(held) {}
    }
  }
}

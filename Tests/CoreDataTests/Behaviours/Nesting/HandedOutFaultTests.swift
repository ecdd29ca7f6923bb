import CoreData
import Foundation
import Testing

/// A fault that was changed through the inverse and published to a child, when others change its values.
@Suite struct HandedOutFaultTests {
  /// How a context learns of other contexts' saves.
  enum News: CaseIterable {
    case notification
    case identities
    case refetch
  }

  @Test(arguments: Setting.direct, News.allCases)
  func `it takes their values and keeps its members`(_ setting: Setting, _ news: News) throws {
    let stack = try TestStack(setting)
    let root = stack.root
    let ada = try stack.stored("Author", ["name": "Ada", "age": 1])
    root.performAndWait {
      root.refresh(ada, mergeChanges: false)
      root.insert("Book", ["title": "Notes", "author": ada])
      #expect(ada.isFault)
    }
    let child = stack.child(of: root)
    child.performAndWait { #expect(child.object(with: ada.objectID).objects("books").count == 1) }

    let sibling = stack.sibling()
    let saved = try sibling.saved { sibling.object(with: ada.objectID).setValue(99, forKey: "age") }
    try root.performAndWait {
      #expect(ada.isFault)
      switch news {
      case .notification: root.mergeChanges(fromContextDidSave: saved)
      case .identities:
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSUpdatedObjectsKey: [ada.objectID]], into: [root])
      case .refetch:
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.shouldRefreshRefetchedObjects = true
        _ = try root.fetch(request)
      }
      #expect(ada.value(forKey: "age") as? Int == 99)
      try root.save()
    }
    try stack.fresh { context in
      let ada = try #require(try context.all("Author").first)
      #expect(ada.value(forKey: "age") as? Int == 99)
      #expect(ada.objects("books").count == 1)
    }
  }
}

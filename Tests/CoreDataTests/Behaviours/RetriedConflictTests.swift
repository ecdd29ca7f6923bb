import CoreData
import Foundation
import Testing

/// A save that met a conflict with another coordinator succeeds when it is tried again.
@Suite struct RetriedConflictTests {
  @Test func `a retry in a new context reads the row that the conflict found`() throws {
    let stack = try TestStack(.sqlite)
    let id = try stack.root.performAndWait {
      let author = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return author.objectID
    }
    // Has read the row before it is overwritten.
    let first = stack.sibling()
    let mine = try first.performAndWait { try first.existingObject(with: id) }
    let other = try stack.otherCoordinator().newContext()
    try other.performAndWait {
      let author = try #require(try other.all("Author", by: "name").first)
      author.setValue("Eve", forKey: "name")
      try other.save()
    }
    let error = #expect(throws: CocoaError.self) {
      try first.performAndWait {
        mine.setValue("first", forKey: "name")
        try first.save()
      }
    }
    #expect(error?.errorCode == NSManagedObjectMergeError)
    let second = stack.sibling()
    try second.performAndWait {
      try second.existingObject(with: id).setValue("second", forKey: "name")
      try second.save()
    }
    let names = try stack.fresh { try $0.all("Author", by: "name").map { $0.text("name") } }
    #expect(names == ["second"])
  }
}

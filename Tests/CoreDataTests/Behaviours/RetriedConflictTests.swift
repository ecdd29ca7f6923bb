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
    let other = try stack.otherCoordinator().newContext()
    try other.performAndWait {
      let author = try #require(try other.all("Author", by: "name").first)
      author.setValue("Eve", forKey: "name")
      try other.save()
    }
    func attempt(_ name: String) throws {
      let context = stack.sibling()
      try context.performAndWait {
        try context.existingObject(with: id).setValue(name, forKey: "name")
        try context.save()
      }
    }
    let error = #expect(throws: CocoaError.self) { try attempt("first") }
    #expect(error?.errorCode == NSManagedObjectMergeError)
    try attempt("second")
    let names = try stack.fresh { try $0.all("Author", by: "name").map { $0.text("name") } }
    #expect(names == ["second"])
  }
}

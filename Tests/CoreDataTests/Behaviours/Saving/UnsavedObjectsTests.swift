import CoreDataToolKit
import Foundation
import Testing

@testable import CoreData

/// The list of a context's unsaved objects.
@Suite struct UnsavedObjectsTests {
  @Test func `objects keep their order whichever are removed, one by one or between readings`() throws {
    let stack = try TestStack(.memory)
    var random = SeededRandom(seed: 3)
    try stack.context.performAndWait {
      let list = UnsavedObjects()
      var wanted: [NSManagedObject] = []
      for round in 0..<40 {
        for _ in 0..<50 {
          let object = stack.context.insert("Tag")
          list.append(object)
          wanted.append(object)
        }
        for _ in 0..<45 {
          let object = try #require(wanted.randomElement(using: &random))
          wanted.removeAll { $0 === object }
          list.remove(object)
          if Int.random(in: 0..<30, using: &random) == 0 {
            list.append(object)
            wanted.append(object)
          }
        }
        #expect(list.count == wanted.count)
        #expect(list.contains { $0 === wanted.last } == !wanted.isEmpty)
        if round % 3 == 0 { #expect(list.objects == wanted) }
      }
      #expect(list.drain() == wanted)
      #expect(list.isEmpty)
    }
  }

  @Test func `an object that was removed is let go`() throws {
    let stack = try TestStack(.memory)
    try stack.context.performAndWait {
      let list = UnsavedObjects()
      let references = (0..<200).map { _ in
        let object = stack.context.insert("Tag")
        list.append(object)
        return WeakReference(object)
      }
      try stack.context.save()
      for reference in references.prefix(150) { list.remove(try #require(reference.object)) }
      stack.context.reset()
      #expect(references.count { $0.object != nil } == 50)
    }
  }

  @Test(arguments: Setting.direct)
  func `a changed fault is found by the values that it has shown since a fetch`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let stored = try stack.stored("Tag", ["name": "a"])
    let context = stack.sibling()
    func found(_ name: String) throws -> Int {
      try context.all("Tag", where: NSPredicate(format: "name == %@", name)).count
    }
    let tag = try context.performAndWait {
      let tag = context.object(with: stored.objectID)
      context.insert("Book", ["tags": Set([tag])])
      // What is unsaved is indexed by name, and the tag has none to show.
      try #expect(found("x") == 0)
      #expect(tag.hasChanges && tag.isFault)
      #expect(tag.text("name") == "a")
      return tag
    }
    try stack.root.performAndWait {
      stored.setValue("b", forKey: "name")
      try stack.root.save()
    }
    try context.performAndWait {
      #expect(tag.text("name") == "a")
      try #expect(found("a") == 1)
    }
  }
}

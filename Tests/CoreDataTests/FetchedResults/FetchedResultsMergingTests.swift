import CoreData
import Foundation
import Testing

/// Saves a context and merges its changes into another.
private func save(_ saver: NSManagedObjectContext, mergingInto context: NSManagedObjectContext) throws {
  let token = NotificationCenter.default.addObserver(
    forName: .NSManagedObjectContextDidSave, object: saver, queue: nil
  ) {
    context.mergeChanges(fromContextDidSave: $0)
  }
  defer { NotificationCenter.default.removeObserver(token) }
  try saver.save()
}

@Suite("Fetched results controller: changes from elsewhere")
struct FetchedResultsMergingTests {
  @Test(arguments: Setting.direct)
  func `A merged update of a fault is announced`(_ setting: Setting) throws {
    let fixture = try ControllerFixture(setting, ["a", "b"])
    let other = fixture.stack.sibling()
    try fixture.context.performAndWait {
      fixture.context.refreshAllObjects()
      _ = fixture.delegate.take()
      try other.performAndWait {
        try other.all("Author", by: "name")[0].setValue("c", forKey: "name")
        try save(other, mergingInto: fixture.context)
      }
      #expect(fixture.delegate.take() == ["will", "move 0.0 0.1", "did"])
      #expect(fixture.names == ["b", "c"])
    }
  }

  @Test(arguments: Setting.direct)
  func `A fault that a merge makes match the predicate comes in`(_ setting: Setting)
    throws
  {
    for isFilledFirst in [false, true] {
      let fixture = try ControllerFixture(setting, ["a"], where: NSPredicate(format: "age > 60"))
      let other = fixture.stack.sibling()
      try fixture.context.performAndWait {
        let fault = try #require(fixture.context.all("Author").first)
        fixture.context.refresh(fault, mergeChanges: false)
        _ = fixture.delegate.take()
        let context = fixture.context
        let id = fault.objectID
        let token = NotificationCenter.default.addObserver(
          forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) {
          if isFilledFirst { context.object(with: id).willAccessValue(forKey: nil) }
          context.mergeChanges(fromContextDidSave: $0)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.performAndWait {
          try other.all("Author")[0].setValue(70, forKey: "age")
          try other.save()
        }
        #expect(fixture.delegate.take() == ["will", "insert - 0.0", "did"])
        withExtendedLifetime(fault) {}
      }
    }
  }

  @Test(arguments: Setting.direct)
  func `A merged update brings in an unregistered object`(_ setting: Setting) throws {
    let fixture = try ControllerFixture(setting, ["a", "b"], where: NSPredicate(format: "age > 60"))
    let other = fixture.stack.sibling()
    try fixture.context.performAndWait {
      #expect(fixture.names.isEmpty)
      try other.performAndWait {
        try other.all("Author", by: "name")[1].setValue(70, forKey: "age")
        try save(other, mergingInto: fixture.context)
      }
      #expect(fixture.names == ["b"])
      #expect(fixture.delegate.take() == ["will", "insert - 0.0", "did"])
    }
  }

  @Test(arguments: Setting.direct)
  func `Merging object IDs alone brings in unregistered objects`(_ setting: Setting) throws {
    let fixture = try ControllerFixture(setting, ["a", "b"], where: NSPredicate(format: "age > 60"))
    let other = fixture.stack.sibling()
    try fixture.context.performAndWait {
      let id = try other.performAndWait {
        let author = try other.all("Author", by: "name")[1]
        author.setValue(70, forKey: "age")
        try other.save()
        return author.objectID
      }
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSUpdatedObjectIDsKey: [id]], into: [fixture.context])
      #expect(fixture.names == ["b"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `A child's save is announced before it returns`(_ setting: Setting)
    throws
  {
    let fixture = try ControllerFixture(setting, ["a"])
    let child = fixture.stack.child(of: fixture.context)
    try fixture.context.performAndWait {
      try child.performAndWait {
        child.insert("Author", ["name": "b"])
        try child.save()
      }
      #expect(fixture.delegate.take() == ["will", "insert - 0.1", "did"])
      try child.performAndWait {
        let author = try child.all("Author", by: "name")[0]
        child.insert("Book", ["title": "t", "author": author])
        try child.save()
      }
      #expect(fixture.delegate.take() == ["will", "update 0.0 0.0", "did"])
    }
  }

  @Test(arguments: Setting.direct)
  func `Another context's relationship-only change is announced`(_ setting: Setting) throws {
    let fixture = try ControllerFixture(setting, ["a"])
    let other = fixture.stack.sibling()
    try fixture.context.performAndWait {
      try other.performAndWait {
        let author = try other.all("Author", by: "name")[0]
        other.insert("Book", ["title": "t", "author": author])
        try save(other, mergingInto: fixture.context)
      }
      #expect(fixture.delegate.take() == ["will", "update 0.0 0.0", "did"])
    }
  }
}

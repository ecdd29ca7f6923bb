import Foundation
import Testing

@testable import CoreData

/// Objects that the program has released: a later access must behave as if they had never been registered.
@Suite struct LetGoObjectTests {
  /// Saves an author, reads its values and releases it.
  private func author(in stack: TestStack) throws -> NSManagedObjectID {
    let id = try stack.context.performAndWait {
      let author = stack.context.insert("Author", ["name": "Ada"])
      try stack.context.save()
      return author.objectID
    }
    if stack.setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    stack.context.performAndWait { _ = stack.context.object(with: id).text("name") }
    return id
  }

  /// Renames the author in another context, which the context under test does not merge.
  private func rename(_ id: NSManagedObjectID, in context: NSManagedObjectContext) throws {
    try context.performAndWait {
      context.object(with: id).setValue("Bob", forKey: "name")
      try context.save()
    }
  }

  @Test func `a fetch shows what another coordinator has stored`() throws {
    let stack = try TestStack(.sqlite)
    _ = try author(in: stack)
    let other = try stack.otherCoordinator().newContext()
    try other.performAndWait {
      try other.all("Author")[0].setValue("Bob", forKey: "name")
      try other.save()
    }
    try stack.context.performAndWait {
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Bob"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `a fetch shows what another context has saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    try rename(id, in: setting.isNested ? stack.root : stack.sibling())
    try stack.context.performAndWait {
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Bob"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `an existing object shows what another context has saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    try rename(id, in: setting.isNested ? stack.root : stack.sibling())
    try stack.context.performAndWait {
      let author = try stack.context.existingObject(with: id)
      #expect(author.text("name") == "Bob")
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object by its ID is a fault`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    stack.context.performAndWait { #expect(stack.context.object(with: id).isFault) }
  }

  @Test(arguments: Setting.direct)
  func `a relationship's target shows what another context saved`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    let book = try stack.context.performAndWait {
      let author = stack.context.object(with: id)
      let book = stack.context.insert("Book", ["author": author])
      try stack.context.save()
      stack.context.refresh(author, mergeChanges: false)
      stack.context.refresh(book, mergeChanges: false)
      return book
    }
    stack.context.performAndWait { _ = stack.context.object(with: id).text("name") }
    try rename(id, in: stack.sibling())
    stack.context.performAndWait {
      #expect((book.value(forKey: "author") as? NSManagedObject)?.text("name") == "Bob")
    }
  }

  @Test(arguments: Setting.allCases)
  func `transient values do not come back`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.context.performAndWait {
      let book = stack.context.insert("Book")
      try stack.context.save()
      return book.objectID
    }
    if setting.isNested { try stack.root.performAndWait { try stack.root.save() } }
    stack.context.performAndWait {
      let book = stack.context.object(with: id)
      book.setPrimitiveValue("seen", forKey: "mark")
      #expect(book.text("mark") == "seen")
    }
    try stack.context.performAndWait {
      #expect(stack.context.object(with: id).text("mark") == nil)
      try #expect(stack.context.all("Book").map { $0.text("mark") } == [nil])
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object with unsaved changes is kept`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    stack.context.performAndWait {
      stack.context.object(with: id).setValue("Cy", forKey: "name")
      stack.context.processPendingChanges()
    }
    try stack.context.performAndWait {
      #expect(stack.context.object(with: id).text("name") == "Cy")
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Cy"])
    }
  }

  @Test(arguments: Setting.allCases)
  func `a member of a held object's relationship is kept`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try author(in: stack)
    try stack.context.performAndWait {
      let author = stack.context.object(with: id)
      _ = stack.context.insert("Book", ["author": author])
      try stack.context.save()
      let member = (author.value(forKey: "books") as? Set<NSManagedObject>)?.first
      let before = ObjectIdentifier(try #require(member))
      let book = try #require(try stack.context.all("Book").first)
      #expect(ObjectIdentifier(book) == before)
      withExtendedLifetime(author) {}
    }
  }

  @Test func `a context that retains its objects keeps them`() throws {
    let stack = try TestStack(.sqlite)
    stack.context.performAndWait { stack.context.retainsRegisteredObjects = true }
    let id = try author(in: stack)
    try rename(id, in: stack.sibling())
    try stack.context.performAndWait {
      try #expect(stack.context.all("Author").map { $0.text("name") } == ["Ada"])
    }
  }
}

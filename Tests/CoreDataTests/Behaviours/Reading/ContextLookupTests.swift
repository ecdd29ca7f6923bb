import CoreData
import Foundation
import Testing

@Suite struct ContextLookupTests {
  /// Returns a stack with one saved author, and the author's ID.
  private func saved(_ setting: Setting) throws -> (TestStack, NSManagedObjectID) {
    let stack = try TestStack(setting)
    let id = try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      try stack.root.save()
      return ada.objectID
    }
    return (stack, id)
  }

  @Test(arguments: Setting.allCases)
  func `registered object reads nothing`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    context.performAndWait {
      #expect(context.registeredObject(for: id) == nil)
      let ada = context.object(with: id)
      #expect(context.registeredObject(for: id) === ada)
    }
  }

  @Test(arguments: Setting.allCases)
  func `object with ID is a fault even of nothing`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    try stack.root.performAndWait {
      stack.root.delete(stack.root.object(with: id))
      try stack.root.save()
    }
    context.performAndWait {
      let ghost = context.object(with: id)
      #expect(ghost.isFault)
      #expect(ghost.objectID == id)
      #expect(ghost.text("name") == nil)
      #expect(ghost.isDeleted)
    }
  }

  @Test(arguments: Setting.allCases)
  func `existing object is loaded or an error`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    try context.performAndWait {
      try #expect(!context.existingObject(with: id).isFault)
      context.reset()
    }
    try stack.root.performAndWait {
      stack.root.delete(stack.root.object(with: id))
      try stack.root.save()
    }
    context.performAndWait {
      let error = #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      #expect(error?.errorCode == 133000)
      #expect(NSManagedObjectReferentialIntegrityError == 133000)
    }
  }

  @Test(arguments: Setting.allCases)
  func `existing object gives the unsaved instance`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      let ada = stack.context.insert("Author")
      try #expect(stack.context.existingObject(with: ada.objectID) === ada)
    }
  }

  @Test(arguments: Setting.allCases)
  func `every way to an object leads to-one instance`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    try context.performAndWait {
      let one = context.object(with: id)
      try #expect(context.existingObject(with: id) === one)
      try #expect(context.all("Author").first === one)
      #expect(context.registeredObject(for: id) === one)
    }
  }

  // MARK: How long objects stay

  @Test(arguments: Setting.allCases)
  func `unreferenced clean objects are released`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    #expect(!context.retainsRegisteredObjects)
    context.performAndWait {
      _ = context.object(with: id).text("name")
      #expect(context.registeredObjects.isEmpty)
      context.object(with: id).setValue("Grace", forKey: "name")
      #expect(context.registeredObjects.count == 1)
      #expect(context.registeredObject(for: id)?.text("name") == "Grace")
    }
  }

  @Test(arguments: Setting.allCases)
  func `retained objects stay`(_ setting: Setting) throws {
    let (stack, id) = try saved(setting)
    let context = stack.setting.isNested ? stack.context : stack.sibling()
    context.retainsRegisteredObjects = true
    context.performAndWait {
      _ = context.object(with: id)
      #expect(context.registeredObjects.count == 1)
    }
  }

  @Test(arguments: Setting.allCases)
  func `unreferenced saved objects are released`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      for _ in 0..<3 { stack.context.insert("Author") }
      #expect(stack.context.registeredObjects.count == 3)
      try stack.context.save()
      #expect(stack.context.registeredObjects.isEmpty)
    }
  }

  @Test(arguments: Setting.allCases)
  func `a realised pair keeps itself registered until refreshed`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    try stack.context.performAndWait {
      func make() -> NSManagedObjectID {
        let ada = stack.context.insert("Author")
        let book = stack.context.insert("Book")
        book.setValue(ada, forKey: "author")
        return ada.objectID
      }
      _ = make()
      try stack.context.save()
      #expect(stack.context.registeredObjects.count == 2)
      stack.context.refreshAllObjects()
      #expect(stack.context.registeredObjects.isEmpty)
    }
  }

  @Test func `objects outlive their context without it`() throws {
    let stack = try TestStack(.memory)
    var context: NSManagedObjectContext? = stack.sibling()
    let ada = context!.performAndWait { context!.insert("Author") }
    context = nil
    #expect(ada.managedObjectContext == nil)
  }

  @Test(arguments: Setting.direct)
  func `what was saved stays registered while an insertion waits`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let context = stack.context
    try context.performAndWait {
      for name in ["Ada", "Eve"] { context.insert("Author", ["name": name]) }
      try context.save()
      context.insert("Tag", ["name": "maths"])
      #expect(context.registeredObjects.count == 3)
      try context.save()
      #expect(context.registeredObjects.isEmpty, "a clean save lets go")
    }
  }

  @Test(arguments: Setting.allCases)
  func `an object whose row is missing is unregistered when it is asked for`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let id = try stack.stored("Author", ["name": "Ada"]).objectID
    try stack.root.performAndWait {
      stack.root.delete(stack.root.object(with: id))
      try stack.root.save()
    }
    let context = stack.child(of: stack.root)
    context.performAndWait {
      let fault = context.object(with: id)
      #expect(throws: CocoaError.self) { try context.existingObject(with: id) }
      #expect(context.registeredObject(for: id) == nil)
      #expect(fault.managedObjectContext == nil)
      #expect(!fault.isDeleted && !fault.hasChanges)
    }
  }
}

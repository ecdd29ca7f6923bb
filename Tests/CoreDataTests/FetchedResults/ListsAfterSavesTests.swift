import CoreData
import Foundation
import Testing

/// Lists of a context that merges nothing, whose own save shows what the store has.
@Suite struct ListsAfterSavesTests {
  private func _list(
    _ context: NSManagedObjectContext, by key: String, where predicate: NSPredicate? = nil
  ) throws -> NSFetchedResultsController<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    try controller.performFetch()
    return controller
  }

  private func _names(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
    controller.fetchedObjects?.map { $0.text("name") ?? "nil" } ?? []
  }

  @Test func `a child's change over a newer row moves the object`() throws {
    let stack = try TestStack(.sqlite)
    let parent = stack.root
    let child = stack.child(of: parent)
    let ids = try parent.performAndWait {
      let authors = [
        parent.insert("Author", ["name": "a", "age": 1]), parent.insert("Author", ["name": "b", "age": 2]),
      ]
      try parent.save()
      return authors.map(\.objectID)
    }
    let controller = try parent.performAndWait { try _list(parent, by: "age") }
    let delegate = RecordingDelegate()
    parent.performAndWait {
      #expect(_names(controller) == ["a", "b"])
      controller.delegate = delegate
    }
    child.performAndWait { child.object(with: ids[0]).setValue("c", forKey: "name") }
    let other = stack.sibling()
    try other.performAndWait {
      other.object(with: ids[0]).setValue(3, forKey: "age")
      try other.save()
    }
    try child.performAndWait { try child.save() }
    try parent.performAndWait {
      let changes = Posted(.NSManagedObjectContextObjectsDidChange, by: parent)
      try parent.save()
      #expect(parent.object(with: ids[0]).value(forKey: "age") as? Int == 3)
      #expect(_names(controller) == ["b", "c"])
      #expect(delegate.take().contains("move 0.0 0.1"))
      #expect(changes.userInfos.contains { ($0[NSRefreshedObjectsKey] as? Set<NSManagedObject>)?.count == 1 })
      #expect(!parent.hasChanges)
    }
  }

  private func _counting() throws -> TestStack {
    let model = LibraryModel.make()
    let attribute = NSDerivedAttributeDescription()
    attribute.name = "bookCount"
    attribute.attributeType = .integer64AttributeType
    attribute.derivationExpression = NSExpression(format: "books.@count")
    model.entitiesByName["Author"]!.properties.append(attribute)
    return try TestStack(.sqlite, model: model)
  }

  @Test func `a value that the store derives moves the object that was saved`() throws {
    let stack = try _counting()
    let context = stack.context
    try context.performAndWait {
      let authors = ["a", "b"].map { context.insert("Author", ["name": $0]) }
      context.insert("Book", ["title": "One", "author": authors[1]])
      try context.save()
      let controller = try _list(context, by: "bookCount")
      let delegate = RecordingDelegate()
      controller.delegate = delegate
      #expect(_names(controller) == ["a", "b"])
      for title in ["Two", "Three"] { context.insert("Book", ["title": title, "author": authors[0]]) }
      authors[0].setValue("c", forKey: "name")
      context.processPendingChanges()
      _ = delegate.take()
      try context.save()
      #expect(_names(controller) == ["b", "c"])
      #expect(delegate.take() == ["will", "move 0.0 0.1", "did"])
    }
  }

  @Test(arguments: [false, true])
  func `a value that the store derives brings a fault and an unregistered object in`(_ isFault: Bool) throws {
    let stack = try _counting()
    let context = stack.context
    let id = try context.performAndWait {
      let author = context.insert("Author", ["name": "a"])
      try context.save()
      return author.objectID
    }
    try context.performAndWait {
      context.reset()
      let controller = try _list(context, by: "name", where: NSPredicate(format: "bookCount > 0"))
      let delegate = RecordingDelegate()
      controller.delegate = delegate
      #expect(_names(controller).isEmpty)
      let fault = isFault ? context.object(with: id) : nil
      let book = context.insert("Book", ["title": "One"])
      book.setValue(context.object(with: id), forKey: "author")
      try context.save()
      #expect(_names(controller) == ["a"])
      #expect(delegate.take() == ["will", "insert - 0.0", "did"])
      withExtendedLifetime(fault) {}
    }
  }

  @Test(arguments: Setting.direct, [false, true])
  func `a child's list follows what its parent changes in the child's insertion`(
    _ setting: Setting, _ isFault: Bool
  ) throws {
    let stack = try TestStack(setting)
    let parent = stack.root
    let child = stack.child(of: parent)
    let (controller, ada) = try child.performAndWait {
      let ada = child.insert("Author", ["name": "Ada", "age": 20])
      child.insert("Author", ["name": "Bob", "age": 10])
      try child.save()
      return (try _list(child, by: "age"), ada)
    }
    let delegate = RecordingDelegate()
    child.performAndWait {
      #expect(_names(controller) == ["Bob", "Ada"])
      controller.delegate = delegate
    }
    if isFault { child.performAndWait { child.refreshAllObjects() } }
    parent.performAndWait { parent.object(with: ada.objectID).setValue(6, forKey: "age") }
    let save = try parent.saved {}
    child.performAndWait {
      child.mergeChanges(fromContextDidSave: save)
      #expect(ada.value(forKey: "age") as? Int == 6)
      #expect(_names(controller) == ["Ada", "Bob"])
    }
  }
}

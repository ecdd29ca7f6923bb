import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

@Suite("The sample models of the Big Nerd Ranch stack")
struct SampleModelTests {
  @Test func `The current sample version keeps both ends in step`() async throws {
    let stack = try CoreDataStack.constructInMemoryStack(modelName: "Sample", in: .module)
    let entities = stack.coordinator.managedObjectModel.entitiesByName
    #expect(Set(entities.keys) == ["Author", "Book", "Publisher"])
    #expect(entities["Book"]?.relationshipsByName["publisher"]?.isOptional == true)
    let context = stack.mainQueueContext
    try await context.perform {
      let book = Book(managedObjectContext: context)
      let author = Author(managedObjectContext: context)
      author.firstName = "Virginia"
      book.authors = [author]
      #expect(author.books == [book])
      author.books.remove(book)
      #expect(book.authors.isEmpty)
      author.books.insert(book)
      let publisher = NSEntityDescription.insertNewObject(forEntityName: "Publisher", into: context)
      publisher.setValue("Hogarth Press", forKey: "name")
      book.publisher = publisher
      try context.save()
      context.refreshAllObjects()
      #expect(book.publisher.value(forKey: "name") as? String == "Hogarth Press")
      #expect(book.authors.map(\.firstName) == ["Virginia"])
      #expect(publisher.value(forKey: "books") as? Set<Book> == [book])
    }
  }

  @Test func `The container's unique title allows books without title`() async throws {
    let container = NSPersistentContainer(
      name: "Container_Example",
      managedObjectModel: Bundle.module.managedObjectModel(name: "Container_Example"))
    let description = NSPersistentStoreDescription()
    description.type = NSInMemoryStoreType
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { _, error in #expect(error == nil) }
    #expect(
      container.managedObjectModel.entitiesByName["Book"]?.uniquenessConstraints as? [[String]] == [["title"]]
    )
    let context = container.viewContext
    try await context.perform {
      for _ in 0..<3 { _ = ContainedBook(context: context) }
      let book = ContainedBook(context: context)
      book.title = "Orlando"
      book.addToAuthors(ContainedAuthor(context: context))
      try context.save()
      #expect(try ContainedBook.countInContext(context) == 4)
      #expect(
        try ContainedBook.allInContext(context, predicate: NSPredicate(format: "title == nil")).count == 3)
    }
  }

  @Test func `A stack is set up by the name of a model in a bundle`() async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
      "sample-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let stack = try await CoreDataStack.constructSQLiteStack(
      modelName: "Sample", in: .module, at: directory.appendingPathComponent("Store.sqlite"))
    #expect(stack.coordinator.managedObjectModel.entities.count == 3)
    let called = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
      CoreDataStack.constructSQLiteStack(
        modelName: "Sample", in: .module, at: directory.appendingPathComponent("Other.sqlite")
      ) { result in
        if case .success = result { done.resume(returning: true) } else { done.resume(returning: false) }
      }
    }
    #expect(called)
    let documents = try #require(FileManager.default.urls(for: .documentDirectory, in: .userDomainMask).first)
    #expect(CoreDataStack.documentsURL(named: "Sample") == documents.appendingPathComponent("Sample.sqlite"))
  }

  @Test func `A model that the bundle does not have traps, and is named`() async throws {
    let result = try #require(
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Bundle.module.managedObjectModel(name: "Nothing")
      })
    #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("has no model 'Nothing'"))
  }
}

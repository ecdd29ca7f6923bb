import SwiftData
import Testing

/// The interface between macros and module, tested on expanded classes.
struct ExpandedModelTests {
  private func _context() throws -> ModelContext {
    ModelContext(try ModelContainer(for: Writer.self, configurations: .init(isStoredInMemoryOnly: true)))
  }

  @Test func `a new model shows the values of its initialiser`() {
    let writer = Writer(name: "Ann")
    #expect(writer.name == "Ann" && writer.works.isEmpty && writer.modelContext == nil)
  }

  @Test func `inserting stores what relationships lead to`() throws {
    let context = try _context()
    let work = Work(title: "One", writer: Writer(name: "Ann"))
    context.insert(work)
    try context.save()
    let fresh = ModelContext(context.container)
    #expect(try fresh.fetch(FetchDescriptor<Work>()).map(\.writer?.name) == ["Ann"])
  }

  @Test func `an inserted model is in its inverse`() throws {
    let context = try _context()
    let writer = Writer(name: "Ann")
    context.insert(writer)
    let work = Work(title: "One", writer: writer)
    context.insert(work)
    #expect(writer.works.count == 1 && writer.works.first === work)
  }

  @Test func `a constant has its value in another context`() throws {
    let context = try _context()
    let writer = Writer(name: "Ann")
    context.insert(writer)
    try context.save()
    let stored = try ModelContext(context.container).fetch(FetchDescriptor<Writer>())
    #expect(stored.map(\.name) == ["Ann"])
  }

  @Test func `a predicate finds by attribute and by relationship`() throws {
    let context = try _context()
    context.insert(Work(title: "One", writer: Writer(name: "Ann")))
    context.insert(Work(title: "Two", writer: Writer(name: "Bob")))
    try context.save()
    let byTitle = try context.fetch(FetchDescriptor<Work>(predicate: #Predicate { $0.title == "Two" }))
    #expect(byTitle.map(\.writer?.name) == ["Bob"])
    let byName = try context.fetch(FetchDescriptor<Work>(predicate: #Predicate { $0.writer?.name == "Ann" }))
    #expect(byName.map(\.title) == ["One"])
  }

  @Test func `sorting follows a relationship`() throws {
    let context = try _context()
    context.insert(Work(title: "One", writer: Writer(name: "Bob")))
    context.insert(Work(title: "Two", writer: Writer(name: "Ann")))
    let sorted = try context.fetch(FetchDescriptor<Work>(sortBy: [SortDescriptor(\.writer?.name)]))
    #expect(sorted.map(\.title) == ["Two", "One"])
  }

  @Test func `deleting takes along what cascades`() throws {
    let context = try _context()
    let writer = Writer(name: "Ann")
    context.insert(Work(title: "One", writer: writer))
    try context.save()
    context.delete(writer)
    #expect(try context.fetchCount(FetchDescriptor<Work>()) == 0)
    try context.save()
    #expect(writer.modelContext == nil && !writer.isDeleted && writer.name == "Ann")
  }
}

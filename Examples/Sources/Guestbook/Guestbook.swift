import SwiftData

/// What lives as long as the server: the container, and no context.
struct Guestbook: Sendable {
  private let _container: ModelContainer

  init(at place: URL) throws {
    _container = try ModelContainer(for: Visit.self, configurations: .init(url: place))
  }

  /// Answers one request, in a context of its own that is let go with its models. May be called on any thread.
  func welcome(_ name: String) throws -> String {
    let context = ModelContext(_container)
    context.author = "request"
    let known = try context.fetch(FetchDescriptor<Visit>(predicate: #Predicate { $0.visitor == name })).first
    let visit = known ?? Visit(visitor: name)
    if known == nil { context.insert(visit) }
    visit.count += 1
    visit.last = .now
    try context.save()
    return "Visit \(visit.count) of \(name)"
  }

  /// Forgets visitors who have not come since a date, without reading them.
  func forget(before date: Date) throws {
    let context = ModelContext(_container)
    context.author = "maintenance"
    try context.delete(model: Visit.self, where: #Predicate { $0.last < date })
    try context.save()
  }

  /// Purges the history of saves before a date, which nothing reads any more.
  func purgeHistory(before date: Date) throws {
    try ModelContext(_container).deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.timestamp < date }))
  }

  /// The authors of the saves in the history, each once.
  func authors() throws -> [String] {
    let transactions = try ModelContext(_container).fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    return Set(transactions.compactMap(\.author)).sorted()
  }
}

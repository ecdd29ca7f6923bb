import SwiftData
import TestSupport
import Testing

@Model final class Dive {
  @Attribute(.preserveValueOnDeletion) var name: String
  var depth: Int
  init(name: String, depth: Int) {
    self.name = name
    self.depth = depth
  }
}

/// The history of a store.
struct HistoryTests {
  private let _context: ModelContext

  init() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("dives.store")
    _context = ModelContext(try ModelContainer(for: Dive.self, configurations: .init(url: place)))
    let dive = Dive(name: "reef", depth: 10)
    _context.insert(dive)
    try _context.save()
    _context.author = "ann"
    dive.depth = 20
    try _context.save()
    _context.delete(dive)
    try _context.save()
  }

  private func _all() throws -> [DefaultHistoryTransaction] {
    try _context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>())
  }

  @Test func `each save is a transaction with typed changes`() throws {
    let all = try _all()
    #expect(all.count == 3 && all.map(\.author) == [nil, "ann", "ann"])
    guard case .insert(let insert as DefaultHistoryInsert<Dive>)? = all[0].changes.first,
      case .update(let update as DefaultHistoryUpdate<Dive>)? = all[1].changes.first,
      case .delete(let delete as DefaultHistoryDelete<Dive>)? = all[2].changes.first
    else {
      Issue.record("the changes are of other types: \(all.map(\.changes))")
      return
    }
    #expect(insert.changedPersistentIdentifier == delete.changedPersistentIdentifier)
    #expect(update.updatedAttributes.map { $0 as PartialKeyPath<Dive> } == [\Dive.depth])
    #expect(update.updatedAttributes.contains(\.depth) && update.containsAttribute(\.depth))
    #expect(delete.tombstone[\.name] as? String == "reef" && delete.tombstone[\.depth] == nil)
    #expect(delete.tombstone.map { $0 as? String } == ["reef"])
  }

  @Test func `a token finds what came later`() throws {
    let all = try _all()
    let token = all[0].token
    let later = try _context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > token }))
    #expect(later.map(\.transactionIdentifier) == all.dropFirst().map(\.transactionIdentifier))
    let author: String? = "ann"
    let mine = try _context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(
        predicate: #Predicate { ($0.token > token) && ($0.author == author) }))
    #expect(mine.count == 2)
    let decoded = try JSONDecoder().decode(DefaultHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(decoded == token && all[0].token < all[1].token)
  }

  @Test func `the newest transaction comes first if asked`() throws {
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
    descriptor.fetchLimit = 1
    #expect(
      try _context.fetchHistory(descriptor).map(\.transactionIdentifier) == [_all()[2].transactionIdentifier])
  }

  @Test func `a token whose successors are deleted has expired`() throws {
    let all = try _all()
    let (old, newest) = (all[0].token, all[2].token)
    let last = all[1].token
    try _context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token <= last }))
    #expect(try _all().count == 1)
    #expect(throws: SwiftDataError.historyTokenExpired) {
      _ = try _context.fetchHistory(
        HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > old }))
    }
    let rest = try _context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > last }))
    #expect(rest.count == 1 && rest.first?.token == newest)
    try _context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    #expect(try _all().isEmpty)
  }

  @Test func `transactions amid others are deleted`() throws {
    let all = try _all()
    let second = all[1].transactionIdentifier
    try _context.deleteHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(
        predicate: #Predicate { $0.transactionIdentifier == second }))
    #expect(try _all().map(\.token) == [all[0].token, all[2].token])
    let first = all[0].token
    let later = try _context.fetchHistory(
      HistoryDescriptor<DefaultHistoryTransaction>(predicate: #Predicate { $0.token > first }))
    #expect(later.map(\.token) == [all[2].token])
  }

  @Test func `a limit deletes as many as it says, in the order given`() throws {
    let all = try _all()
    var descriptor = HistoryDescriptor<DefaultHistoryTransaction>(
      sortBy: [SortDescriptor(\.transactionIdentifier, order: .reverse)])
    descriptor.fetchLimit = 2
    try _context.deleteHistory(descriptor)
    #expect(try _all().map(\.token) == [all[0].token])
  }

  @Test func `transactions and changes are equal if they are read twice`() throws {
    let (all, again) = (try _all(), try _all())
    #expect(all == again && Set(all + again).count == 3)
    #expect(all[0] != all[1] && all[0].id != all[1].id)
    #expect(all[0].token.id == again[0].token.id)
    func changes(_ transactions: [DefaultHistoryTransaction]) -> [AnyHashable] {
      transactions.flatMap(\.changes).compactMap { change in
        switch change {
        case .insert(let insert as DefaultHistoryInsert<Dive>): AnyHashable(insert)
        case .update(let update as DefaultHistoryUpdate<Dive>): AnyHashable(update)
        case .delete(let delete as DefaultHistoryDelete<Dive>): AnyHashable(delete)
        default: nil
        }
      }
    }
    #expect(changes(all) == changes(again) && changes(all).count == 3)
    #expect(Set(changes(all) + changes(again)).count == 3)
  }
}

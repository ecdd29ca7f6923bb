import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SwiftData

@Model private final class Sample {
  @Attribute(.unique) var number: Int
  @Attribute(.preserveValueOnDeletion) var value: Int
  var series: Series?

  init(_ number: Int, _ value: Int) {
    self.number = number
    self.value = value
  }
}

@Model private final class Series {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Sample.series) var samples: [Sample] = []
  var labels: [Label] = []

  init(_ name: String) { self.name = name }
}

@Model private final class Label {
  var text: String
  @Relationship(inverse: \Series.labels) var series: [Series] = []

  init(_ text: String) { self.text = text }
}

/// Deletions by a predicate, which make no models for the rows.
struct RowDeletionTests {
  private let _container: ModelContainer

  init() throws {
    let place = try TemporaryPlace.makeDirectory().appendingPathComponent("samples.store")
    _container = try ModelContainer(for: Sample.self, Label.self, configurations: .init(url: place))
    let context = ModelContext(_container)
    for name in ["a", "b"] {
      let series = Series(name)
      context.insert(series)
      for number in 0..<10 {
        let sample = Sample(name == "a" ? number : 10 + number, number)
        sample.series = series
        context.insert(sample)
      }
      let label = Label(name)
      label.series = [series]
      context.insert(label)
    }
    try context.save()
  }

  private func _context() -> ModelContext {
    let context = ModelContext(_container)
    context.autosaveEnabled = false
    return context
  }

  private func _numbers(_ context: ModelContext) throws -> [Int] {
    try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.number)])).map(\.number)
  }

  private func _deleteSmall(_ context: ModelContext) throws {
    try context.delete(model: Sample.self, where: #Predicate { $0.value < 8 })
  }

  @Test func `no objects are made`() throws {
    let context = _context()
    try _deleteSmall(context)
    #expect(context.managed.registeredObjects.isEmpty && context.hasChanges)
    #expect(context.managed.rowDeletions.pending.map(\.keys.count) == [16])
    try context.save()
    #expect(context.managed.registeredObjects.isEmpty && !context.hasChanges)
    #expect(try _numbers(_context()) == [8, 9, 18, 19])
  }

  @Test func `fetches, counts and identities leave the rows out`() throws {
    let context = _context()
    try _deleteSmall(context)
    #expect(try _numbers(context) == [8, 9, 18, 19])
    #expect(try context.fetchCount(FetchDescriptor<Sample>()) == 4)
    #expect(try context.fetchIdentifiers(FetchDescriptor<Sample>()).count == 4)
    #expect(
      try context.fetchCount(FetchDescriptor<Sample>(predicate: #Predicate { $0.series?.name == "a" })) == 2)
    var page = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.number)])
    (page.fetchOffset, page.fetchLimit) = (1, 2)
    #expect(try context.fetch(page).map(\.number) == [9, 18])
    #expect(try context.fetchCount(page) == 2)
    #expect(try _numbers(_context()).count == 20)
  }

  @Test func `a rollback brings the rows back`() throws {
    let context = _context()
    try _deleteSmall(context)
    context.rollback()
    #expect(!context.hasChanges)
    #expect(try _numbers(context).count == 20)
    try context.save()
    #expect(try _numbers(_context()).count == 20)
  }

  @Test func `what matched at the call is deleted`() throws {
    let (context, other) = (_context(), _context())
    try _deleteSmall(context)
    other.insert(Sample(20, 1))
    let changed = try #require(
      try other.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.number == 0 })).first)
    changed.value = 100
    try other.save()
    #expect(try _numbers(context) == [8, 9, 18, 19, 20])
    try context.save()
    #expect(try _numbers(_context()) == [8, 9, 18, 19, 20])
  }

  @Test func `new models with the unique values of deleted rows stay`() throws {
    let context = _context()
    try context.delete(model: Sample.self)
    context.insert(Sample(3, 33))
    #expect(try _numbers(context) == [3])
    try context.save()
    let stored = try _context().fetch(FetchDescriptor<Sample>())
    #expect(stored.map(\.number) == [3] && stored.map(\.value) == [33])
  }

  @Test func `registered models are deleted as models`() throws {
    let context = _context()
    let all = try context.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.number)]))
    let (gone, kept) = (all[0], all[9])
    try _deleteSmall(context)
    #expect(gone.isDeleted && !kept.isDeleted)
    try context.save()
    #expect(gone.modelContext == nil && gone.value == 0 && kept.modelContext != nil)
  }

  @Test func `a model that is asked for by its identity is deleted`() throws {
    let context = _context()
    let id = try #require(
      try _context().fetchIdentifiers(FetchDescriptor<Sample>(predicate: #Predicate { $0.number == 0 })).first
    )
    try _deleteSmall(context)
    #expect(context.model(for: id).isDeleted && context.storedModel(for: id) as Sample? == nil)
    #expect(context.deletedModelsArray.count == 16)
    try context.save()
    #expect(try _numbers(_context()) == [8, 9, 18, 19])
  }

  @Test func `owners and other fetches know of the deletion`() throws {
    let context = _context()
    try _deleteSmall(context)
    let series = try context.fetch(FetchDescriptor<Series>())
    #expect(series.map(\.samples.count) == [2, 2])
    try context.delete(model: Sample.self)
    #expect(
      try context.fetchCount(FetchDescriptor<Series>(predicate: #Predicate { !$0.samples.isEmpty })) == 0)
    try context.save()
    #expect(try _context().fetch(FetchDescriptor<Series>()).allSatisfy(\.samples.isEmpty))
  }

  @Test func `cascades are deleted with the rows`() throws {
    let context = _context()
    try context.delete(model: Series.self, where: #Predicate { $0.name == "a" })
    #expect(context.managed.registeredObjects.isEmpty)
    #expect(try _numbers(context) == Array(10..<20))
    try context.save()
    #expect(try _numbers(_context()) == Array(10..<20))
    let labels = try _context().fetch(FetchDescriptor<Label>(sortBy: [SortDescriptor(\.text)]))
    #expect(labels.map(\.series.count) == [0, 1])
  }

  @Test func `a row that another context adds to a deleted owner is deleted with it`() throws {
    let (context, other) = (_context(), _context())
    try context.delete(model: Series.self, where: #Predicate { $0.name == "a" })
    let late = Sample(30, 1)
    late.series = try other.fetch(FetchDescriptor<Series>(predicate: #Predicate { $0.name == "a" })).first
    other.insert(late)
    try other.save()
    try context.save()
    #expect(try _numbers(_context()) == Array(10..<20))
  }

  @Test func `unsaved models of the class take part as they do`() throws {
    let context = _context()
    let sample = try #require(
      try context.fetch(FetchDescriptor<Sample>(predicate: #Predicate { $0.number == 0 })).first)
    sample.value = 50
    context.insert(Sample(40, 1))
    try _deleteSmall(context)
    #expect(try _numbers(context) == [8, 9, 18, 19, 40])
    try context.save()
    #expect(try _numbers(_context()) == [8, 9, 18, 19, 40])
  }

  @Test func `several calls add up`() throws {
    let context = _context()
    try _deleteSmall(context)
    try context.delete(model: Sample.self, where: #Predicate { $0.number >= 5 })
    #expect(try _numbers(context) == [])
    try context.save()
    #expect(try _numbers(_context()) == [])
  }

  @MainActor @Test func `all contexts learn of the deletion`() throws {
    let (context, other, main) = (_context(), _context(), _container.mainContext)
    let models = try [other, main].map {
      try $0.fetch(FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.number)]))
    }
    try _deleteSmall(context)
    try context.save()
    for (each, models) in zip([other, main], models) {
      #expect(try _numbers(each) == [8, 9, 18, 19])
      #expect(models[0].isDeleted || models[0].modelContext == nil)
      try each.save()
      #expect(try _numbers(each) == [8, 9, 18, 19] && !each.hasChanges)
    }
  }

  @Test func `history and notification list the rows`() throws {
    let context = _context()
    try context.deleteHistory(HistoryDescriptor<DefaultHistoryTransaction>())
    let listed = Mutex<[PersistentIdentifier]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: ModelContext.didSave, object: context, queue: nil
    ) { note in
      let deleted = note.userInfo?["deleted"] as? [PersistentIdentifier] ?? []
      listed.withLock { $0 = deleted }
    }
    try _deleteSmall(context)
    try context.save()
    NotificationCenter.default.removeObserver(observer)
    let changes = try context.fetchHistory(HistoryDescriptor<DefaultHistoryTransaction>()).flatMap(\.changes)
    let values = changes.compactMap { change -> Int? in
      guard case .delete(let deletion as DefaultHistoryDelete<Sample>) = change else { return nil }
      return deletion.tombstone[\.value] as? Int
    }
    #expect(changes.count == 16 && values.sorted() == (0..<16).map { $0 / 2 })
    #expect(Set(listed.withLock { $0 }) == Set(changes.map(\.changedPersistentIdentifier)))
  }

  @Test func `a save that fails keeps the deletion`() throws {
    let context = _context()
    try _deleteSmall(context)
    let wrong = NSManagedObject(
      entity: try #require(context.core.bindings.binding(of: Series.self)).entity, insertInto: context.managed
    )
    #expect(throws: (any Error).self) { try context.save() }
    #expect(context.hasChanges)
    #expect(try _numbers(context) == [8, 9, 18, 19])
    context.managed.delete(wrong)
    try context.save()
    #expect(try _numbers(_context()) == [8, 9, 18, 19])
  }
}

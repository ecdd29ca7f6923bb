import CoreData
import Foundation
import TestSupport
import Testing

@testable import SwiftData

/// What a program has let go is freed.
struct LetGoTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = ModelContext(_container)
    for code in ["A", "B", "C"] {
      let shelf = Shelf(code: code)
      shelf.volumes = [Volume(title: code)]
      context.insert(shelf)
    }
    try context.save()
  }

  /// What a context is used for before it is let go.
  enum Use: CaseIterable {
    case nothing, fetching, inserting, changing, deleting, savingAll, rollingBack, relating, enumerating
  }

  private func _use(_ context: ModelContext, for use: Use) throws {
    let shelves = use == .nothing ? [] : try context.fetch(FetchDescriptor<Shelf>())
    switch use {
    case .nothing, .fetching: break
    case .inserting: context.insert(Shelf(code: "D"))
    case .changing: shelves[0].room = "hall"
    case .deleting: context.delete(shelves[0])
    case .savingAll:
      context.insert(Shelf(code: "E"))
      shelves[0].room = "attic"
      context.delete(shelves[1])
      try context.save()
    case .rollingBack:
      context.insert(Shelf(code: "F"))
      shelves[0].room = "cellar"
      context.rollback()
    case .relating: shelves[0].volumes.append(Volume(title: "New"))
    case .enumerating: try context.enumerate(FetchDescriptor<Volume>(), batchSize: 1) { _ = $0.shelf?.code }
    }
  }

  @Test(arguments: Use.allCases)
  func `a context is freed with everything it has read`(_ use: Use) throws {
    weak var context: ModelContext?
    weak var managed: NSManagedObjectContext?
    do {
      let used = ModelContext(_container)
      used.autosaveEnabled = false
      (context, managed) = (used, used.managed)
      try _use(used, for: use)
    }
    #expect(context == nil && managed == nil)
  }

  @Test func `a model that outlives its context reads its relationships and frees all with itself`() throws {
    weak var managed: NSManagedObjectContext?
    do {
      let shelf: Shelf
      do {
        let context = ModelContext(_container)
        managed = context.managed
        shelf = try #require(
          try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)])).first)
      }
      #expect(shelf.modelContext == nil)
      #expect(shelf.volumes.map(\.title) == ["A"] && shelf.volumes[0].shelf === shelf)
    }
    #expect(managed == nil)
  }

  @Test func `an inserted model outlives its context`() throws {
    weak var managed: NSManagedObjectContext?
    do {
      let shelf = Shelf(code: "X")
      do {
        let context = ModelContext(_container)
        managed = context.managed
        shelf.volumes = [Volume(title: "Y")]
        context.insert(shelf)
        try context.save()
      }
      #expect(shelf.code == "X" && shelf.volumes.map(\.title) == ["Y"])
    }
    #expect(managed == nil)
  }

  @Test func `a related model alone keeps what it leads to`() throws {
    weak var managed: NSManagedObjectContext?
    do {
      var volume: Volume?
      do {
        let context = ModelContext(_container)
        managed = context.managed
        let shelves = try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)]))
        volume = shelves[0].volumes.first
      }
      #expect(volume?.shelf?.code == "A" && volume?.shelf?.volumes.count == 1)
      volume = nil
    }
    #expect(managed == nil)
  }

  @Test func `an actor is freed with its context`() async throws {
    weak var actor: Librarian?
    weak var managed: NSManagedObjectContext?
    do {
      let made = Librarian(modelContainer: _container)
      actor = made
      managed = await made.managed
      _ = try await made.add("Z")
      _ = await made.room(of: try await made.add("Y"))
    }
    // The actor's last job may still hold it.
    for _ in 0..<1000 where actor != nil || managed != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(actor == nil && managed == nil)
  }

  @Test func `a container that was let go closes its files`() async throws {
    let directory = try TemporaryPlace.makeDirectory()
    func descriptors() throws -> Int {
      let all = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return all.count {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?
          .hasPrefix(directory.path) ?? false
      }
    }
    for number in 0..<5 {
      let container = try ModelContainer(
        for: Shelf.self, configurations: .init(url: directory.appendingPathComponent("\(number % 2).store")))
      let context = ModelContext(container)
      context.insert(Shelf(code: "\(number)"))
      try context.save()
      #expect(try !context.fetch(FetchDescriptor<Shelf>()).isEmpty)
      let other = ModelContext(container)
      #expect(try !other.fetch(FetchDescriptor<Shelf>()).isEmpty)
    }
    // The thread that watches a file for other processes' changes closes it last.
    for _ in 0..<1000 where try descriptors() > 0 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try descriptors() == 0)
  }
}

extension Librarian {
  /// The engine's context.
  fileprivate var managed: NSManagedObjectContext { modelContext.managed }
}

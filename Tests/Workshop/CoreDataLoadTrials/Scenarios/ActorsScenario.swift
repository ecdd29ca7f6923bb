import CoreData
import CoreDataStackShootout
import Foundation
import MainThreadWatch
import SwiftData
import Synchronization

/// SwiftData: four workers, each with an actor that stays and others that come and go, write notes of one
/// container, which the main context shows.
final class ActorsScenario: LoadScenario {
  private static let _workers = 4
  let screen: any Screen
  let contexts = 3 * _workers
  private let _container: ModelContainer
  private let _writers: [NoteWriter]
  private let _tracks: [Track]
  private let _instruments: Instruments
  private let _written = Atomic<UInt64>(0)

  init(_ store: LoadStore, _ instruments: Instruments) throws {
    let container = try ModelContainer(for: LoadNote.self, configurations: ModelConfiguration(url: store.url))
    instruments.caches.add { [weak container] in container?.emptyRowCache() }
    let writers = (0..<Self._workers).map { _ in NoteWriter(modelContainer: container) }
    let tracks = try writers.map { _ in Track(try CommitLog()) }
    (_container, _writers, _tracks, _instruments) = (container, writers, tracks, instruments)
    for (number, writer) in writers.enumerated() {
      instruments.ages.add(tracks[number])
      try Awaited.value {
        await writer.join(instruments.contexts)
        try await writer.fill(owner: number)
      }
      tracks[number].commits.commit()
    }
    screen = try DispatchQueue.main.sync {
      try MainActor.assumeIsolated { try NoteScreen(container, instruments) }
    }
    for track in tracks { track.show(track.commits.last) }
  }

  func work(until deadline: UInt64) throws {
    try Workers.run(
      (0..<Self._workers).map { worker in
        { [self] in
          while MonotonicClock.now < deadline {
            try _write(worker)
            _instruments.tally.countOperation()
          }
        }
      })
  }

  func settle() throws {
    for (worker, writer) in _writers.enumerated() {
      try Awaited.value { try await writer.settle(owner: worker) }
    }
    try screen.settle()
  }

  /// Lets an actor write, every fourth time a new one, and a new one read.
  private func _write(_ worker: Int) throws {
    let (container, instruments, track) = (_container, _instruments, _tracks[worker])
    let number = _written.add(1, ordering: .relaxed).newValue
    let known = _writers[worker]
    try Awaited.value {
      var writer = known
      if number.isMultiple(of: 4) {
        writer = NoteWriter(modelContainer: container)
        await writer.join(instruments.contexts)
      }
      let revision = track.commits.last + 1
      try await writer.write(owner: worker, revision: Int(revision), seed: number)
      instruments.tally.countSave()
      track.commits.commit()
      guard number.isMultiple(of: 8) else { return }
      let reader = NoteWriter(modelContainer: container)
      await reader.join(instruments.contexts)
      let shown = UInt64(try await reader.revision(owner: worker) ?? 0)
      instruments.reads.record(staleFor: shown < revision ? track.commits.age(after: shown) : nil)
    }
  }
}

/// The notes on main, by name.
private final class NoteScreen: Screen, @unchecked Sendable {
  // Unchecked: changed on the main queue only.
  private let _container: ModelContainer
  private var _beacons: [LoadNote] = []
  private var _observation: NotificationObservation?
  private let _notes = FetchDescriptor<LoadNote>(sortBy: [SortDescriptor(\.name), SortDescriptor(\.owner)])
  /// What a list of the notes keeps.
  private var _shown: [LoadNote] = []

  @MainActor init(_ container: ModelContainer, _ instruments: Instruments) throws {
    _container = container
    let context = container.mainContext
    instruments.contexts.add(context)
    _shown = try context.fetch(_notes)
    _beacons = _shown.filter(\.isBeacon)
    // What was merged is shown from then on.
    _observation = NotificationObservation(of: .NSManagedObjectContextObjectsDidChange) {
      [weak self] notification in
      let context = notification.object as? NSManagedObjectContext
      guard let self, context?.concurrencyType == .mainQueueConcurrencyType else { return }
      for beacon in self._beacons { instruments.ages.track(beacon.owner)?.show(UInt64(beacon.revision)) }
    }
  }

  func perform(_ block: @escaping @Sendable () -> Void) { DispatchQueue.main.async(execute: block) }

  func settle() throws {
    // Merges wait for their turns.
    for _ in 0..<3 { DispatchQueue.main.sync {} }
    try DispatchQueue.main.sync {
      try MainActor.assumeIsolated {
        try _container.mainContext.save()
        _container.mainContext.sweep()
      }
    }
  }

  func differences() throws -> [String] {
    let stored = try ModelContext(_container).fetch(_notes).map(Row.init)
    return try DispatchQueue.main.sync {
      try MainActor.assumeIsolated {
        let context = _container.mainContext
        var found: [String] = []
        _shown = try context.fetch(_notes)
        let shown = _shown.map(Row.init)
        if shown != stored {
          found.append(
            "main shows \(shown.count) notes and not the \(stored.count) of the store; "
              + "\(Set(shown).symmetricDifference(stored).count) differ")
        }
        if !context.deletedModelsArray.isEmpty { found.append("main has deleted models") }
        return found
      }
    }
  }

  /// What a note shows.
  private struct Row: Hashable {
    let name: String
    let owner: Int
    let revision: Int

    init(_ note: LoadNote) { (name, owner, revision) = (note.name, note.owner, note.revision) }
  }
}

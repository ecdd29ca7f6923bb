import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import SwiftData

/// The rows of the scenario of actors.
@Model final class LoadNote {
  #Index<LoadNote>([\.name])

  var name: String
  /// The number of the worker whose actors write it.
  var owner: Int
  /// The number of its last save among those of its owner.
  var revision: Int
  /// Whether each save of its owner changes it.
  var isBeacon: Bool

  init(name: String, owner: Int, isBeacon: Bool = false) {
    self.name = name
    self.owner = owner
    self.isBeacon = isBeacon
    revision = 1
  }
}

/// Writes the notes of one worker.
@ModelActor actor NoteWriter {
  /// The number of notes of a worker.
  static let notes = 250

  /// Makes the notes of a worker.
  func fill(owner: Int) throws {
    modelContext.insert(LoadNote(name: "beacon \(owner)", owner: owner, isBeacon: true))
    for number in 0..<Self.notes { modelContext.insert(LoadNote(name: "note \(number)", owner: owner)) }
    try modelContext.save()
  }

  /// Changes, inserts and deletes a few notes, and saves.
  ///
  /// - Parameters:
  ///   - revision: The number of the save.
  ///   - seed: Which notes.
  func write(owner: Int, revision: Int, seed: UInt64) throws {
    var dice = SeededRandom(seed: seed)
    let sorted = FetchDescriptor<LoadNote>(
      predicate: #Predicate { $0.owner == owner && !$0.isBeacon }, sortBy: [SortDescriptor(\.name)])
    let found = try modelContext.fetch(sorted)
    for _ in 0..<6 {
      let note = found[dice.below(found.count)]
      note.name = String(dice.next(), radix: 36)
      note.revision = revision
    }
    if found.count < Self.notes + 20 {
      modelContext.insert(LoadNote(name: String(dice.next(), radix: 36), owner: owner))
    }
    if found.count > Self.notes - 20 { modelContext.delete(found[dice.below(found.count)]) }
    let beacons = FetchDescriptor<LoadNote>(predicate: #Predicate { $0.owner == owner && $0.isBeacon })
    for beacon in try modelContext.fetch(beacons) { beacon.revision = revision }
    try modelContext.save()
  }

  /// The number of an owner's last save, as this actor's context reads it.
  func revision(owner: Int) throws -> Int? {
    let beacons = FetchDescriptor<LoadNote>(predicate: #Predicate { $0.owner == owner && $0.isBeacon })
    return try modelContext.fetch(beacons).first?.revision
  }

  /// Merges what others have saved, and lets go of what nothing else retains.
  func settle(owner: Int) throws {
    _ = try revision(owner: owner)
    modelContext.sweep()
  }

  /// Counts the actor's context.
  func join(_ contexts: Census) { contexts.add(modelContext) }
}

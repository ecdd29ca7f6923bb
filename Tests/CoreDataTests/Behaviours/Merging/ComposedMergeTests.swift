import CoreData
import CoreDataToolKit
import Foundation
import Testing

/// Saves that wait for a context are merged as one, and leave what they leave when they are merged one by
/// one.
@Suite struct ComposedMergeTests {
  /// The number of sequences: `MERGE_SEQUENCES`, or 200.
  private static let count =
    ProcessInfo.processInfo.environment["MERGE_SEQUENCES"].flatMap { Int($0) } ?? 200

  @Test func `composed merges leave what single merges leave`() throws {
    let model = LibraryModel.make()
    for seed in 1...Self.count {
      let sequence = try MergeSequence(seed: UInt64(seed), model)
      let (single, composed) = try sequence.run()
      try #require(composed == single, "seed \(seed)")
    }
  }
}

/// A sequence of saves of one context, which two others merge: one at once, one when all are saved.
private final class MergeSequence {
  private let stack: TestStack
  private var random: SeededRandom
  private let single: Follower
  private let composed: Follower
  private var lastTitle = 0

  init(seed: UInt64, _ model: NSManagedObjectModel) throws {
    stack = try TestStack(.memory, model: model)
    random = SeededRandom(seed: seed)
    let root = stack.root
    try root.performAndWait {
      for number in 0..<3 { root.insert("Author", ["name": "\(number)"]) }
      for number in 0..<3 { root.insert("Tag", ["name": "\(number)"]) }
      try root.save()
    }
    (single, composed) = (Follower(stack), Follower(stack))
    for _ in 0..<2 { try save(changes: 4) }
    for follower in [single, composed] { try follower.begin() }
    let edits = Int.random(in: 0...2, using: &random)
    let state = random
    for follower in [single, composed] {
      random = state
      for _ in 0..<edits { edit(in: follower) }
    }
  }

  /// Returns what the two contexts show.
  func run() throws -> (single: [String], composed: [String]) {
    let (started, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    composed.context.perform {
      started.signal()
      gate.wait()
    }
    started.wait()
    for _ in 0..<Int.random(in: 2...9, using: &random) {
      try save(changes: Int.random(in: 1...3, using: &random))
      single.context.performAndWait {}
      // A block ends a group.
      if Int.random(in: 0..<8, using: &random) == 0 { composed.context.perform {} }
    }
    gate.signal()
    return (try single.shown(), try composed.shown())
  }

  private func save(changes: Int) throws {
    let root = stack.root
    try root.performAndWait {
      for _ in 0..<changes { try change(root) }
      try root.save()
    }
  }

  private func any(_ entity: String, in context: NSManagedObjectContext) throws -> NSManagedObject? {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    let objects = try context.fetch(request).filter { !$0.isDeleted }
    return objects.sorted { $0.objectID.uriRepresentation().path < $1.objectID.uriRepresentation().path }
      .randomElement(using: &random)
  }

  private func newTitle() -> String {
    lastTitle += 1
    return "\(Int.random(in: 0..<10, using: &random))-\(lastTitle)"
  }

  /// Makes a random change of a book.
  private func change(_ context: NSManagedObjectContext) throws {
    let choice = Int.random(in: 0..<12, using: &random)
    guard choice > 2, let book = try any("Book", in: context) else {
      context.insert("Book", ["title": newTitle(), "pages": Int.random(in: 0..<3, using: &random)])
      return
    }
    switch choice {
    case 3, 4: book.setValue(newTitle(), forKey: "title")
    case 5: book.setValue(Int.random(in: 0..<3, using: &random), forKey: "pages")
    case 6, 7: book.setValue(try any("Author", in: context), forKey: "author")
    case 8, 9:
      guard let tag = try any("Tag", in: context) else { return }
      let tags = book.mutableSetValue(forKey: "tags")
      if tags.contains(tag) { tags.remove(tag) } else { tags.add(tag) }
    case 10: book.setValue(nil, forKey: "author")
    default: context.delete(book)
    }
  }

  /// Makes an unsaved change, the same in both followers for the same random numbers.
  private func edit(in follower: Follower) {
    follower.context.performAndWait {
      let books = follower.held.filter { $0.entity.name == "Book" }
      guard let book = books.randomElement(using: &random) else { return }
      book.setValue(Int.random(in: 100..<200, using: &random), forKey: "copies")
      if Bool.random(using: &random) {
        book.setValue("9-edited-\(Int.random(in: 0..<1_000_000_000, using: &random))", forKey: "title")
      }
    }
  }
}

/// A context that follows the saves, with all objects and a list of books by sections.
private final class Follower {
  let context: NSManagedObjectContext
  private(set) var held: [NSManagedObject] = []
  private var list: NSFetchedResultsController<NSManagedObject>?
  /// A controller follows changes only if it has a delegate.
  private let delegate = Delegate()

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {}

  init(_ stack: TestStack) {
    context = stack.sibling()
    context.automaticallyMergesChangesFromParent = true
  }

  func begin() throws {
    try context.performAndWait {
      for entity in ["Author", "Book", "Tag"] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.returnsObjectsAsFaults = false
        held += try context.fetch(request).sorted { Self.name($0) < Self.name($1) }
      }
      for object in held { _ = Self.text(object) }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.sortDescriptors = ["pages", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
      let list = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "pages", cacheName: nil)
      list.delegate = delegate
      try list.performFetch()
      self.list = list
    }
  }

  /// Describes all objects, the unsaved changes, the list, and what a fetch finds.
  func shown() throws -> [String] {
    try context.performAndWait {
      var lines: [String] = []
      for object in held {
        let isGone = object.isDeleted || object.managedObjectContext == nil
        lines.append("\(Self.name(object)) " + (isGone ? "gone" : Self.text(object)))
      }
      lines += context.updatedObjects.map { "changed \(Self.name($0)) \($0.changedValues().keys.sorted())" }
        .sorted()
      // What was inserted and deleted in between is not registered if the saves were composed.
      lines += context.deletedObjects.intersection(held).map { "deleted \(Self.name($0))" }.sorted()
      for section in list?.sections ?? [] {
        lines.append("section \(section.name)")
        for case let book as NSManagedObject in section.objects ?? [] {
          lines.append("\(Self.name(book)) \(Self.text(book))")
        }
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      lines += try context.fetch(request).map { "found \(Self.name($0)) \(Self.text($0))" }.sorted()
      return lines
    }
  }

  private static func name(_ object: NSManagedObject) -> String { object.objectID.uriRepresentation().path }

  private static func text(_ object: NSManagedObject) -> String {
    var parts: [String] = []
    for (name, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
      switch object.value(forKey: name) {
      case let other as NSManagedObject: parts.append("\(name)=\(Self.name(other))")
      case let others as Set<NSManagedObject>: parts.append("\(name)=\(others.map(Self.name).sorted())")
      case let value? where property is NSAttributeDescription: parts.append("\(name)=\(value)")
      default: break
      }
    }
    return parts.joined(separator: " ")
  }
}

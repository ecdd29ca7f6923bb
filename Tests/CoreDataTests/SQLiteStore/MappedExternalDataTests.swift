import CoreData
import Foundation
import Testing

/// Values in files of their own are mapped, so that they take no memory until they are looked at.
@Suite struct MappedExternalDataTests {
  private let _stores: BlobStore

  init() throws {
    _stores = try BlobStore()
    try _stores.make(blob: true)
  }

  /// Whether so many of this store's files are mapped. Looks several times: the list is no snapshot while other
  /// threads map and unmap.
  private func _maps(_ count: Int) throws -> Bool {
    let directory = _stores.directory.lastPathComponent
    for _ in 0..<500 {
      let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
      let files = maps.filter { $0.contains(directory) && $0.contains("_EXTERNAL_DATA") }
      if files.count == count { return true }
      usleep(10_000)
    }
    return false
  }

  private func _note(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.returnsObjectsAsFaults = false
    return try #require(context.fetch(request).first)
  }

  @Test func `a value is mapped as long as anyone has its row or itself`() throws {
    let coordinator = try _stores.open()
    var value: Data?
    do {
      let context = coordinator.newContext()
      try context.performAndWait {
        let note = try _note(context)
        #expect(try _maps(1))
        value = note.value(forKey: "scan") as? Data
        context.reset()
      }
    }
    try BlobStore.close(coordinator)
    #expect(value == BlobStore.blob)
    #expect(try _maps(1))
    value = nil
  }

  @Test func `a value is no longer mapped once its store is closed`() throws {
    do {
      let coordinator = try _stores.open()
      let context = coordinator.newContext()
      try context.performAndWait {
        _ = try _note(context)
        #expect(try _maps(1))
      }
      try BlobStore.close(coordinator)
    }
    #expect(try _maps(0))
  }

  @Test func `a value that another save replaces stays what the row has`() throws {
    let coordinator = try _stores.open()
    let (reader, writer) = (coordinator.newContext(), coordinator.newContext())
    let note = try reader.performAndWait { try _note(reader) }
    let other = Data(repeating: 7, count: 200_000)
    try writer.performAndWait {
      try _note(writer).setValue(other, forKey: "scan")
      try writer.save()
    }
    #expect(reader.performAndWait { note.value(forKey: "scan") as? Data } == BlobStore.blob)
    reader.performAndWait { reader.refresh(note, mergeChanges: true) }
    #expect(reader.performAndWait { note.value(forKey: "scan") as? Data } == other)
  }

  @Test func `a mapped value is a value of its own`() throws {
    let coordinator = try _stores.open()
    let context = coordinator.newContext()
    try context.performAndWait {
      let note = try _note(context)
      var copy = try #require(note.value(forKey: "scan") as? Data)
      copy[0] = copy[0] &+ 1
      copy.append(1)
      #expect(note.value(forKey: "scan") as? Data == BlobStore.blob)
      note.setValue(copy, forKey: "scan")
      try context.save()
      #expect(try BlobStore.blobs(coordinator) == [copy])
    }
  }
}

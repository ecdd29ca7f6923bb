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

  /// Whether any of this store's files is mapped. Looks again for a while until it is as expected: the list is no
  /// snapshot while other threads map and unmap.
  private func _isMapped(expected: Bool) throws -> Bool {
    let directory = _stores.directory.lastPathComponent
    for _ in 0..<500 {
      let file = try #require(fopen("/proc/self/maps", "r"))
      defer { fclose(file) }
      var line: UnsafeMutablePointer<CChar>?
      var room = 0
      defer { free(line) }
      var isMapped = false
      while getline(&line, &room, file) > 0 {
        let text = String(cString: line!)
        if text.contains(directory), text.contains("_EXTERNAL_DATA") { isMapped = true }
      }
      if isMapped == expected { return isMapped }
      usleep(10_000)
    }
    return !expected
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
        #expect(try _isMapped(expected: true))
        value = note.value(forKey: "scan") as? Data
        context.reset()
      }
    }
    try BlobStore.close(coordinator)
    #expect(value == BlobStore.blob)
    #expect(try _isMapped(expected: true))
    value = nil
  }

  @Test func `a value is no longer mapped once its store is closed`() throws {
    do {
      let coordinator = try _stores.open()
      let context = coordinator.newContext()
      try context.performAndWait {
        _ = try _note(context)
        #expect(try _isMapped(expected: true))
      }
      try BlobStore.close(coordinator)
    }
    #expect(try !_isMapped(expected: false))
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

import CoreData
import Foundation

extension TestStore {
  /// The saved content of the store as text: objects by entity and values, references by number.
  ///
  /// ```text
  /// Author 1
  ///   name: "Jane Austen"
  ///   books: Book 1
  ///
  /// Book 1
  ///   title: "Emma"
  ///   author: Author 1
  /// ```
  ///
  /// Two stores with the same content have the same text, whatever the IDs and the order of their rows. Objects are in
  /// order of their values, then of what they refer to; objects that differ in nothing are numbered as they come.
  ///
  /// - Parameter excluded: Properties that differ in each run, such as an identifier or a time of creation:
  ///   `property` or `Entity.property`.
  public func snapshot(excluding excluded: Set<String> = []) throws -> String {
    let context = newBackgroundContext()
    return try context.performAndWait {
      try SnapshotText(context, model, excluding: excluded).text
    }
  }

  /// Expects that the saved content of the store is as it was recorded, in a file beside the test:
  /// `__Snapshots__/ShelfTests/a-name.txt` for `ShelfTests.swift`.
  ///
  /// ```swift
  /// try importer.run()
  /// try store.expectSnapshot(excluding: ["identifier"])
  /// ```
  ///
  /// A run with `COREDATA_RECORD_SNAPSHOTS=1` in its environment records: look at the files' differences before you
  /// commit them. Any other run fails without the file.
  ///
  /// - Parameters:
  ///   - name: The file's name; the test's if it is not given.
  ///   - excluded: Properties that are left out: `property` or `Entity.property`.
  /// - Throws: An error if the store or the file cannot be read.
  public func expectSnapshot(
    named name: String? = nil, excluding excluded: Set<String> = [], fileID: StaticString = #fileID,
    filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) throws {
    let text = try snapshot(excluding: excluded)
    let file = SnapshotFile(name ?? test, besides: filePath)
    let place = TestPlace(fileID, filePath, line, column)
    if SnapshotFile.isRecording { return try file.record(text) }
    guard let recorded = try file.recorded() else {
      return report.record(
        "There is no snapshot \(file.url.path). Run the test with COREDATA_RECORD_SNAPSHOTS=1 to record it.",
        at: place)
    }
    guard recorded != text else { return }
    report.record(
      "The store differs from \(file.url.path) (-). If the store (+) is right, record it with COREDATA_RECORD_SNAPSHOTS=1.\n"
        + SnapshotDifference(from: recorded, to: text).description,
      at: place)
  }
}

import CoreData
import CoreDataToolKit
import Foundation

// Large values in files beside the store.

extension StoreChecker {
  func checkExternalData(_ anatomy: StoreTableLayout) throws {
    let directory = StoreFileFacts.externalDirectory(path: path)
    var named: Set<String> = []
    for table in anatomy.tables {
      for column in table.attributes where column.isExternal {
        try _check(column, table, anatomy, directory, &named)
      }
    }
    let unnamed = ExternalFiles.names(in: directory).filter { !named.contains($0) }
    // Files may belong to a store with the same base name, which shares the directory.
    guard !unnamed.isEmpty, let others = StoreFileFacts.externalFilesOfNeighbours(path: path) else { return }
    let orphans = unnamed.filter { !others.contains($0) }
    guard !orphans.isEmpty else { return }
    add(
      StoreFinding(
        .externalData, .warning, table: "", count: orphans.count,
        "\(counted(orphans.count, "file")) in \(directory) that no row names, such as \(orphans[0])",
        advice: "delete them", isMendable: true))
  }

  private func _check(
    _ column: StoreTableLayout.AttributeColumn, _ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout,
    _ directory: String, _ named: inout Set<String>
  ) throws {
    var missing: [Int64] = []
    var links: [Int64] = []
    var malformed: [Int64] = []
    let cell = "t0.\(column.column)"
    try connection.query(
      "SELECT t0.Z_PK, \(cell) FROM \(table.name) t0 WHERE typeof(\(cell)) = 'blob' "
        + "AND hex(substr(\(cell), 1, 1)) = '02' AND length(\(cell)) <= 64 ORDER BY t0.Z_PK"
    ) { row in
      let text = row.withBytes(1) { String(decoding: $0.dropFirst().prefix { $0 != 0 }, as: UTF8.self) }
      guard UUID(uuidString: text) != nil else { return malformed.append(row.int64(0)) }
      named.insert(text)
      switch StoreFileFacts.externalFile(at: "\(directory)/\(text)") {
      case .plain: break
      case .missing: missing.append(row.int64(0))
      case .other: links.append(row.int64(0))
      }
    }
    let name = "\(anatomy.name(of: column.owner)).\(column.property)"
    if !missing.isEmpty {
      add(
        StoreFinding(
          .externalData, .error, table: table.name, rows: Array(missing.prefix(10)), count: missing.count,
          "\(counted(missing.count, "row")) whose \(name) stands in a file that is not in \(directory)",
          advice: "copy the directory along with the store; or set the values to NULL",
          isMendable: column.attribute.isOptional))
    }
    if !links.isEmpty {
      add(
        StoreFinding(
          .externalData, .error, table: table.name, rows: Array(links.prefix(10)), count: links.count,
          "\(counted(links.count, "row")) whose \(name) stands in a link or something else that is no plain "
            + "file; it is not followed and reads as nil",
          advice: "put the file itself in \(directory), if you know where it comes from"))
    }
    if !malformed.isEmpty {
      add(
        StoreFinding(
          .externalData, .warning, table: table.name, rows: Array(malformed.prefix(10)),
          count: malformed.count,
          "\(counted(malformed.count, "row")) whose \(name) begins as a file's name does, but names none",
          advice: "look at the values"))
    }
  }
}

/// Files with large values.
enum ExternalFiles {
  /// Files named as Core Data names them; ignores others.
  static func names(in directory: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [])
      .filter { UUID(uuidString: $0) != nil }.sorted()
  }
}

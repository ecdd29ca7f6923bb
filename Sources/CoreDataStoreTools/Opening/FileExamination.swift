import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// Identifies a file before it is used, for precise error messages.
enum FileExamination {
  /// Accepts an SQLite database that is complete according to its header.
  ///
  /// - Throws: `ToolFailure` with the kind of file found and a remedy.
  static func expectDatabase(_ path: String) throws(ToolFailure) {
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw _missing(path, errno) }
    if facts.st_mode & S_IFMT == S_IFDIR { throw _directory(path) }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw ToolFailure(.badInput, "'\(path)' is no regular file. Copy the store to a file and name that.")
    }
    guard access(path, R_OK) == 0 else {
      throw ToolFailure(.noInput, "Cannot read '\(path)': \(String(cString: strerror(errno))).")
    }
    let head = DatabaseHead.bytes(path, count: 4096) ?? []
    if head.isEmpty {
      throw ToolFailure(
        .badInput,
        "'\(path)' is empty (0 bytes). If its content is in '\(path)-wal', the store was copied while a "
          + "program had it open: copy it again with all its files.")
    }
    guard head.starts(with: DatabaseHead.magic) else {
      throw ToolFailure(.badInput, "'\(path)' is \(_kind(head, path)).")
    }
    try _expectWhole(path, head, size: Int(facts.st_size))
  }

  /// Whether the file begins as an SQLite database does.
  static func isDatabase(_ path: String) -> Bool { DatabaseHead.isDatabase(path) }

  private static func _missing(_ path: String, _ code: Int32) -> ToolFailure {
    guard code == ENOENT else {
      return ToolFailure(.noInput, "Cannot read '\(path)': \(String(cString: strerror(code))).")
    }
    let url = URL(fileURLWithPath: path)
    let neighbours =
      (try? FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)) ?? []
    return ToolFailure(
      .noInput,
      "There is no file '\(path)'."
        + SpellingSuggestion.question(about: url.lastPathComponent, among: neighbours.sorted()))
  }

  private static func _directory(_ path: String) -> ToolFailure {
    let suffix = (path as NSString).pathExtension
    if ["xcdatamodel", "xcdatamodeld", "momd"].contains(suffix) {
      return ToolFailure(.badInput, "'\(path)' is a data model, not a store. 'coredata model show' shows it.")
    }
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    let stores = names.filter { isDatabase("\(path)/\($0)") }.prefix(3)
    let hint =
      stores.isEmpty ? "Name a store file." : "It holds \(stores.joined(separator: ", ")): name one of them."
    return ToolFailure(.badInput, "'\(path)' is a directory. \(hint)")
  }

  /// The kind of a file that is not an SQLite database, according to its first bytes.
  private static func _kind(_ head: [UInt8], _ path: String) -> String {
    func begins(_ bytes: [UInt8]) -> Bool { head.starts(with: bytes) }
    if begins([0x37, 0x7F, 0x06, 0x82]) || begins([0x37, 0x7F, 0x06, 0x83]) {
      let store = path.hasSuffix("-wal") ? String(path.dropLast(4)) : "its store"
      return "the write-ahead log of a store. Name the store: '\(store)'"
    }
    if path.hasSuffix("-shm") {
      return "the index of a write-ahead log. Name the store: '\(path.dropLast(4))'"
    }
    if begins(Array("bplist".utf8)) {
      return
        "a binary property list: a compiled model (see 'coredata model show') or a store of the binary type, "
        + "which is not read here. Only SQLite stores are"
    }
    if begins([0x1F, 0x8B]) || begins([0x50, 0x4B, 0x03, 0x04]) || begins([0x42, 0x5A, 0x68]) {
      return "a compressed file. Unpack it, and name the store in it"
    }
    let text = String(decoding: head, as: UTF8.self)
    if text.contains("<database") && text.contains("CoreData") {
      return "a Core Data store of the XML type. Only SQLite stores are read here"
    }
    if text.contains("<model ") { return "a data model, not a store. 'coredata model show' shows it" }
    if begins(Array("** This file contains an SQLite".utf8)) {
      return "an SQLite database whose first bytes are damaged. Restore it from a backup"
    }
    if _entropy(head) > 7.5 {
      return
        "no SQLite database: its bytes look random, as those of an encrypted database do. Decrypt it first, with "
        + "the program that wrote it"
    }
    if !text.unicodeScalars.contains(where: { $0.value == 0 || $0.value == 0xFFFD }) {
      return
        "a text file, not an SQLite database. If it is an export, 'coredata store import' makes a store of it"
    }
    return
      "not an SQLite database: its first bytes are none of those. If it was a store, restore it from a backup"
  }

  /// Bits of information in a byte.
  private static func _entropy(_ bytes: [UInt8]) -> Double {
    guard bytes.count >= 512 else { return 0 }
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    return counts.filter { $0 > 0 }.reduce(0.0) { sum, count in
      let share = Double(count) / Double(bytes.count)
      return sum - share * log2(share)
    }
  }

  /// Compares the size with the header, a discrepancy that SQLite detects only at the end of the file.
  private static func _expectWhole(_ path: String, _ head: [UInt8], size: Int) throws(ToolFailure) {
    guard head.count >= 100 else {
      throw ToolFailure(
        .badInput,
        "'\(path)' ends within the header of an SQLite database (\(size) bytes). Restore it from a backup.")
    }
    func number(_ offset: Int, _ count: Int) -> Int {
      head[offset..<(offset + count)].reduce(0) { $0 << 8 | Int($1) }
    }
    let pageSize = number(16, 2) == 1 ? 65_536 : number(16, 2)
    let pages = number(28, 4)
    // The number of pages counts only if the last writer knew of it.
    let lacksLog = DatabaseHead.hasLog(path) && !FileManager.default.fileExists(atPath: path + "-wal")
    // The first page of a new store stays alone until its log is folded into the file.
    if lacksLog, size <= pageSize, _isWithoutTables(head) {
      throw ToolFailure(.badInput, "'\(path)' has no tables. \(_advice(withoutLog: path))")
    }
    guard number(24, 4) == number(92, 4), pageSize >= 512, pages > 0, size < pages * pageSize else { return }
    throw ToolFailure(
      .badInput,
      "'\(path)' was cut short: it should have \(pages) pages of \(pageSize) bytes, but has \(size) bytes of "
        + "\(pages * pageSize). "
        + (lacksLog ? _advice(withoutLog: path) : "Copy it again, or restore it from a backup."))
  }

  /// Whether the root page of the schema has no cells.
  private static func _isWithoutTables(_ head: [UInt8]) -> Bool {
    head.count >= 108 && head[100] == 0x0D && head[103] == 0 && head[104] == 0
  }

  /// The remedy for a store that was copied without its write-ahead log.
  private static func _advice(withoutLog path: String) -> String {
    "Its header says that changes go to a write-ahead log, and there is no '\(path)-wal' beside it: it was copied "
      + "while a program had it open. Copy it again with all its files."
  }
}

import Foundation
import Testing

@testable import CoreDataModelFiles

/// The objects of a binary property list, as a hostile file may list them.
@Suite struct BinaryPlistTableTests {
  /// A property list of these objects, with references of one byte; the first is the top.
  private func plist(_ objects: [[UInt8]], offsets: [Int: UInt8] = [:]) -> Data {
    var bytes = Array("bplist00".utf8)
    var table: [UInt8] = []
    for (index, object) in objects.enumerated() {
      table.append(offsets[index] ?? UInt8(bytes.count))
      bytes += object
    }
    let first = UInt8(bytes.count)
    let numbers: [[UInt8]] = [[UInt8(objects.count)], [0], [first]]
    bytes += table + [0, 0, 0, 0, 0, 0, 1, 1]
    for number in numbers { bytes += [0, 0, 0, 0, 0, 0, 0] + number }
    return Data(bytes)
  }

  private func text(_ text: String) -> [UInt8] { [0x50 | UInt8(text.utf8.count)] + Array(text.utf8) }

  /// The archive of an object of class "C" with a field "f", whose key is written by `key`.
  private func archive(key: [UInt8], value: [UInt8]) -> Data {
    plist([
      [0xD2, 1, 2, 3, 4], text("$objects"), text("$top"), [0xA3, 5, 6, 7], [0xD1, 8, 9], text("$null"),
      [0xD2, 10, 11, 12, 13], [0xD1, 14, 15], text("root"), [0x80, 1], key, text("$class"), value, [0x80, 2],
      text("$classname"), text("C"),
    ])
  }

  @Test func `a value of each kind is read in place`() throws {
    let double = withUnsafeBytes(of: (2.5).bitPattern.bigEndian) { Array($0) }
    let objects: [[UInt8]] = [
      [0x00], [0x08], [0x09], [0x10, 200], [0x13, 255, 255, 255, 255, 255, 255, 255, 254], [0x23] + double,
      [0x33] + double, [0x42, 7, 8], text("abc"), [0x62, 0x20, 0xAC, 0x00, 0x41], [0x81, 1, 2],
    ]
    let table = try BinaryPlistTable(plist(objects))
    let values: [PlistValue] = [
      .null, .boolean(false), .boolean(true), .integer(200), .integer(-2), .real(2.5), .date(2.5),
      .data([7, 8]),
      .string("abc"), .string("€A"), .uid(258),
    ]
    for (index, value) in values.enumerated() { #expect(table.scalar(index) == value) }
  }

  @Test(
    arguments: [
      ([[0xA1, 9]], [:]), ([[0xD1, 9, 0]], [:]), ([[0xD1, 1, 9], [0x51, 0x61]], [:]),
      ([[0xD1, 1, 1], [0x08]], [:]),
      ([[0xAF, 0x10, 200]], [:]), ([[0x4F, 0x12, 255, 255, 255, 255]], [:]), ([[0x6F, 0x13, 255]], [:]),
      ([[0x08]], [0: 250]), ([[0xD1, 1, 1], [0x51, 0x61]], [1: 250]), ([[0x15]], [:]), ([[0x21]], [:]),
      ([[0x88]], [:]),
      ([[0xF0]], [:]), ([[0x4F, 0x20]], [:]),
    ] as [([[UInt8]], [Int: UInt8])])
  func `a list that refers or reaches beyond itself is refused`(objects: [[UInt8]], offsets: [Int: UInt8]) {
    #expect(throws: BinaryPlistError.self) { _ = try BinaryPlistTable(plist(objects, offsets: offsets)) }
  }

  @Test func `a list cut anywhere is refused`() {
    let whole = archive(key: text("f"), value: text("v"))
    for length in 0..<whole.count {
      #expect(throws: BinaryPlistError.self) { _ = try KeyedArchive(whole.prefix(length)) }
    }
  }

  @Test func `a list with any byte changed comes to no grief`() {
    let whole = archive(key: text("f"), value: text("v"))
    for position in whole.indices {
      for value in [0, 0x0F, 0x80, 0xAF, 0xDF, 0xFF] as [UInt8] {
        var changed = whole
        changed[position] = value
        guard let archive = try? KeyedArchive(changed), let root = archive.root else { continue }
        #expect(root.fields.all.count < 256)
        _ = (
          root.fields["f"], archive.array(.uid(1)), archive.dictionary(.uid(1)),
          archive.string(root.fields["f"])
        )
      }
    }
  }

  @Test func `a field is found by its name, whichever string names it`() throws {
    // The second list has the name in UTF-16, as a string of its own.
    for key in [text("f"), [0x61, 0x00, 0x66]] {
      let archive = try KeyedArchive(archive(key: key, value: text("v")))
      let root = try #require(archive.root)
      #expect(root.className == "C")
      #expect(root.fields["f"] == .string("v"))
      #expect(root.fields["g"] == nil)
    }
  }

  @Test func `a collection that contains itself ends`() throws {
    #expect(throws: BinaryPlistError.self) { _ = try BinaryPlistReader.read(plist([[0xA1, 0]])) }
    let archive = try KeyedArchive(archive(key: text("f"), value: [0xA1, 12]))
    #expect(archive.root?.fields["f"] == .null)
  }
}

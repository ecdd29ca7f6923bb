import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreDataExplorer

/// A custom class.
final class ArchivedPlant: NSObject, NSSecureCoding {
  static var supportsSecureCoding: Bool { true }
  static nonisolated(unsafe) var decoded = 0
  let name: String
  var neighbour: ArchivedPlant?

  init(_ name: String) { self.name = name }

  init?(coder: NSCoder) {
    Self.decoded += 1
    return nil
  }

  func encode(with coder: NSCoder) {
    coder.encode(name as NSString, forKey: "name")
    coder.encode(7, forKey: "height")
    coder.encode(neighbour, forKey: "neighbour")
  }
}

/// Transformable values, decoded without instantiating their objects.
@Suite struct OutlineTests {
  private func _archive(_ object: Any) throws -> [UInt8] {
    [UInt8](try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false))
  }

  private func _lines(_ bytes: [UInt8], limits: ValueOutline.Limits = .init()) throws -> [String] {
    func lines(_ node: ValueOutline, _ indent: String) -> [String] {
      [indent + (node.label.map { "\($0): " } ?? "") + node.text]
        + node.children.flatMap { lines($0, indent + "  ") }
        + (node.omitted > 0 ? ["\(indent)  + \(node.omitted)"] : [])
    }
    return lines(try #require(ValueOutline(decoding: bytes, limits: limits)), "")
  }

  @Test func `plain values of an archive are shown in words`() throws {
    let values: NSDictionary = [
      "text": "Grüße", "number": 42, "fraction": 1.5,
      "date": Date(timeIntervalSinceReferenceDate: 0), "data": Data([1, 2, 255]),
      "id": UUID(uuidString: "00000000-1111-2222-3333-444444444444")! as NSUUID,
      "site": URL(string: "https://example.org/a")! as NSURL, "list": ["a", ["b"]] as NSArray,
      "set": NSSet(array: ["only"]),
    ]
    let lines = try _lines(_archive(values))
    #expect(lines.first == "NSDictionary" || lines.first == "NSMutableDictionary")
    #expect(
      Set(lines.dropFirst()).isSuperset(of: [
        "  text: Grüße", "  number: 42", "  fraction: 1.5", "  date: 2001-01-01 00:00:00",
        "  data: 3 bytes: 01 02 ff", "  id: 00000000-1111-2222-3333-444444444444",
        "  site: https://example.org/a", "  list: NSArray", "    0: a", "    1: NSArray", "      0: b",
        "  set: NSSet", "    only",
      ]), "\(lines)")
  }

  @Test func `an object shows its class and fields and is not made`() throws {
    let (rose, oak) = (ArchivedPlant("rose"), ArchivedPlant("oak"))
    rose.neighbour = oak
    let lines = try _lines(_archive(rose))
    #expect(lines[0].hasSuffix("Plant"))
    #expect(lines.contains("  name: rose") && lines.contains("  height: 7"))
    #expect(lines.contains("    name: oak") && lines.contains("    neighbour: nil"))
    #expect(ArchivedPlant.decoded == 0)
  }

  @Test func `a property list that is no archive is shown too`() throws {
    let list = ["b": [1, 2], "a": true] as [String: Any]
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    #expect(try _lines([UInt8](data)) == ["dictionary", "  a: true", "  b: array", "    0: 1", "    1: 2"])
  }

  @Test func `long values are cut and say so`() throws {
    var limits = ValueOutline.Limits()
    (limits.members, limits.text, limits.bytes) = (2, 3, 1)
    let lines = try _lines(_archive(["abcdef", Data([1, 2]), 3, 4, 5] as NSArray), limits: limits)
    #expect(lines == ["NSArray", "  0: abc…", "  1: 2 bytes: 01 …", "  + 3"])
  }

  // MARK: Hostile bytes

  /// Encodes a binary property list of objects, with references of two bytes.
  private func _list(_ objects: [[UInt8]]) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [UInt8] = []
    for object in objects {
      offsets += withUnsafeBytes(of: UInt32(bytes.count).bigEndian, Array.init)
      bytes += object
    }
    let table = bytes.count
    bytes += offsets + [0, 0, 0, 0, 0, 0, 4, 2]
    for number in [objects.count, 0, table] {
      bytes += withUnsafeBytes(of: UInt64(number).bigEndian, Array.init)
    }
    return bytes
  }

  private func _text(_ text: String) -> [UInt8] { [0x5F, 0x10, UInt8(text.utf8.count)] + Array(text.utf8) }

  @Test func `an array inside itself ends`() throws {
    #expect(try _lines(_list([[0xA1, 0, 0]])) == ["array", "  0: array that contains itself"])
  }

  @Test func `an archived object inside itself ends`() throws {
    // { $archiver, $objects: [$null, { $class: 2, NS.objects: [1] }, { $classname: NSArray }], $top: { root: 1 } }
    let bytes = _list([
      [0xD3, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6], _text("$archiver"), _text("$objects"), _text("$top"),
      _text("NSKeyedArchiver"), [0xA3, 0, 7, 0, 8, 0, 9], [0xD1, 0, 10, 0, 11], _text("$null"),
      [0xD2, 0, 12, 0, 13, 0, 14, 0, 15], [0xD1, 0, 16, 0, 17], _text("root"), [0x80, 1], _text("$class"),
      _text("NS.objects"), [0x80, 2], [0xA1, 0, 11], _text("$classname"), _text("NSArray"),
    ])
    #expect(try _lines(bytes) == ["NSArray", "  0: NSArray that contains itself"])
  }

  @Test func `a decimal number is shown as one`() throws {
    // Written by hand: archiving a decimal number crashes on this platform.
    let mantissa: [UInt8] = [0x4F, 0x10, 16, 0x01, 0x02] + [UInt8](repeating: 0, count: 14)
    let bytes = _list([
      [0xD3, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6], _text("$archiver"), _text("$objects"), _text("$top"),
      _text("NSKeyedArchiver"), [0xA3, 0, 7, 0, 8, 0, 9], [0xD1, 0, 10, 0, 11], _text("$null"),
      [0xD5, 0, 12, 0, 16, 0, 17, 0, 18, 0, 19, 0, 13, 0, 20, 0, 21, 0, 22, 0, 23], [0xD1, 0, 14, 0, 15],
      _text("root"), [0x80, 1], _text("$class"), [0x80, 2], _text("$classname"), _text("NSDecimalNumber"),
      _text("NS.mantissa"), _text("NS.mantissa.bo"), _text("NS.exponent"), _text("NS.negative"),
      mantissa, [0x10, 1], [0x13] + [UInt8](repeating: 0xFF, count: 8), [0x09],
    ])
    #expect(try _lines(bytes) == ["-51.3"])
  }

  @Test func `thousands of nested arrays end at the depth limit`() throws {
    let count = 20_000
    let objects = (0..<count).map { number -> [UInt8] in
      let next = number + 1
      return next == count ? [0x09] : [0xA1, UInt8(next >> 8), UInt8(next & 0xFF)]
    }
    let lines = try _lines(_list(objects))
    #expect(lines.count == 9 && lines.last?.hasSuffix("array, nested too deeply to be shown") == true)
  }

  @Test func `members that unfold exponentially end at the node limit`() throws {
    // Each of 40 arrays contains the next one fifty times.
    let objects = (0..<40).map { number -> [UInt8] in
      number == 39
        ? [0x09]
        : [0xAF, 0x10, 50] + [[UInt8]](repeating: [0, UInt8(number + 1)], count: 50).flatMap(\.self)
    }
    func count(_ node: ValueOutline) -> Int { node.children.reduce(1) { $0 + count($1) } }
    let outline = try #require(ValueOutline(decoding: _list(objects)))
    #expect(count(outline) <= ValueOutline.Limits().nodes)
  }

  @Test func `counts and offsets beyond the bytes are damage`() throws {
    let huge: [UInt8] = [0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    for marker: UInt8 in [0x4F, 0x5F, 0x6F, 0xAF, 0xDF] {
      #expect(try _lines(_list([[marker] + huge])) == ["damaged"], "\(marker)")
      #expect(try _lines(_list([[marker, 0x12, 0, 1, 0, 0]])) == ["damaged"], "\(marker)")
    }
    #expect(try _lines(_list([[0xA1, 0xFF, 0xFF]])) == ["array", "  0: damaged"])
    #expect(
      try _lines(_list([[0xD1, 0, 0, 0, 0]])) == ["dictionary", "  ?: dictionary that contains itself"])
  }

  @Test func `no byte of an archive can do harm`() throws {
    let whole = try _archive(["a": [1, 2.5, Date.distantPast, Data([1]), NSSet(array: ["x"])] as NSArray])
    for index in whole.indices {
      for value: UInt8 in [0, 0x7F, 0xFF, whole[index] ^ 1, whole[index] ^ 0x80] {
        var bytes = whole
        bytes[index] = value
        _ = ValueOutline(decoding: bytes)
      }
      _ = ValueOutline(decoding: Array(whole[..<index]))
    }
  }

  // MARK: Pages

  @Test func `an object's page shows a transformable value decoded`() throws {
    let library = try Library { context in
      _ = Library.insert(
        "Book", ["title": "x", "notes": ["first": "<b>note</b>"] as NSDictionary], into: context)
    }
    let text = try library.visit().get("/object?entity=Book&key=1").text
    #expect(text.contains("<span class=\"key\">first</span>: <span class=\"prose\">&lt;b&gt;note&lt;/b&gt;"))
  }

  @Test func `an archive in a binary attribute is shown decoded, too`() throws {
    let archive = Data(try _archive(["k": "v"] as NSDictionary))
    let library = try Library { _ = Library.insert("Book", ["title": "x", "cover": archive], into: $0) }
    let text = try library.visit().get("/object?entity=Book&key=1").text
    #expect(text.contains("<span class=\"key\">k</span>: <span class=\"prose\">v</span>"))
  }

  @Test func `bytes that are no archive are shown as text or hexadecimal`() throws {
    let library = try Library {
      _ = Library.insert("Book", ["title": "x", "notes": "y" as NSString], into: $0)
    }
    for (bytes, shown) in [
      (Array("{\"a\": 1}".utf8), "<div class=\"prose\">{&quot;a&quot;: 1}</div>"),
      ([1, 2, 0, 255], "class=\"hex\""),
      (Array("bplist00".utf8) + [UInt8](repeating: 255, count: 40), "class=\"hex\""),
    ] {
      let connection = try Connection(path: library.path)
      let hex = bytes.map { String(format: "%02x", $0) }.joined()
      try connection.execute("UPDATE ZBOOK SET ZNOTES = x'\(hex)'")
      let text = try library.visit().get("/object?entity=Book&key=1").text
      #expect(text.contains(shown), "\(bytes)")
    }
  }
}

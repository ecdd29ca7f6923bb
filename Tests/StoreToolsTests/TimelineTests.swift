import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreDataStoreTools

/// `store timeline`.
@Suite struct TimelineTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
  }

  private func _timeline(_ words: String..., columns: Int? = nil) -> Shelf.Answer {
    _shelf.run(["timeline", "@store.sqlite", "--model", "@model"] + words, columns: columns)
  }

  @Test func `Dates of objects are listed in order`() {
    #expect(
      _timeline().output == """
        1886-04-01 12:30:00  Book/p3  published  Cécile; "quoted", and⏎lines
        2001-01-01 00:00:00  Novel/p11  published\("  ")
        2 events.

        """)
  }

  @Test func `Events are chosen by moment, entity and number`() {
    #expect(_timeline("--since", "1900").output.contains("Novel/p11"))
    #expect(!_timeline("--since", "1900").output.contains("Book/p3"))
    #expect(!_timeline("--until", "1886-04-01").output.contains("Novel/p11"))
    #expect(_timeline("--until", "1886-03").output == "0 events.\n")
    #expect(!_timeline("--entity", "Novel").output.contains("Book/p3"))
    #expect(_timeline("--limit", "1").output.hasSuffix("The last 1 of 2 events.\n"))
    #expect(_timeline("--since", "soon").code == .usage)
  }

  @Test func `Several stores are one timeline`() throws {
    try _shelf.makeStore(
      "b.sqlite", "{\"$entity\":\"Book\",\"title\":\"x\",\"published\":\"1950-01-01T00:00:00Z\"}")
    let answer = _shelf.run(
      "timeline", "@store.sqlite", "@b.sqlite", "--model", "@model", "--format", "ndjson")
    let stores = try answer.output.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String]
    }
    #expect(
      stores.map { $0?["store"]?.split(separator: "/").last } == ["store.sqlite", "b.sqlite", "store.sqlite"])
  }

  @Test func `Other tools read it`() throws {
    let lines = _timeline("--format", "ndjson", "--zone", "+01:00").output.split(separator: "\n")
    let first = try JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: String]
    #expect(first?["moment"] == "2001-01-01T01:00:00+01:00")
    #expect(first?["object"] == "Novel/p11")
    let body = _timeline("--format", "bodyfile").output.split(separator: "\n")
    #expect(body.count == 2)
    #expect(body[1].hasSuffix("|11|0|0|0|0|0|978307200|0|0"))
    #expect(body[1].count { $0 == "|" } == 10)
  }
}

/// `store search`.
@Suite struct SearchTests {
  private let _shelf: Shelf

  init() throws {
    _shelf = try Shelf()
    try _shelf.makeStore()
  }

  private func _search(_ text: String, _ words: String...) -> Shelf.Answer {
    _shelf.run(["search", "@store.sqlite", text, "--model", "@model"] + words)
  }

  @Test func `A text is found in every attribute`() {
    #expect(
      _search("cecile").output == "Book/p3  title  Cécile; \"quoted\", and⏎lines\n1 place.\n")
    #expect(_search("example.org").output.hasPrefix("Book/p3  page  "))
    #expect(_search("5b3c7a1e").output.hasPrefix("Book/p3  isbn  "))
    #expect(_search("10.11").output.hasPrefix("Book/p3  cost  "))
    #expect(_search("1886-04").output.hasPrefix("Book/p3  published  "))
    #expect(_search("HELLO").output.hasPrefix("Book/p3  cover  hello"))
    #expect(_search("nowhere").output == "0 places.\n")
  }

  @Test func `Case and diacritics count when asked`() {
    #expect(_search("CÉCILE", "--case").output == "0 places.\n")
    #expect(_search("cecile", "--diacritics").output == "0 places.\n")
    #expect(_search("cécile", "--diacritics").output.hasSuffix("1 place.\n"))
  }

  @Test func `A regular expression is found`() {
    #expect(_search("C[0-9]{2}X[0-9]+[HJ]", "--regex").output.hasSuffix("2 places.\n"))
    #expect(_search("C[0-9", "--regex").code == .usage)
  }

  @Test func `Entities and numbers of places are chosen`() throws {
    #expect(_search("C01", "--limit", "1").output.hasSuffix("1 place.\n"))
    #expect(_search("berlin", "--entity", "Author").output == "0 places.\n")
    let line = try _search("berlin", "--json").json() as? [String: String]
    #expect(
      line == ["object": "Tag/p1", "property": "name", "path": "", "excerpt": "berlin", "match": "berlin"])
  }
}

/// Texts inside of bytes.
@Suite struct ContentTextsTests {
  private func _texts(_ bytes: [UInt8], _ limits: ContentTexts.Limits = .init()) -> (
    texts: [String], isIncomplete: Bool
  ) {
    var content = ContentTexts(limits: limits)
    var found: [String] = []
    _ = content.visit(bytes) { path, text in
      found.append((path + [text]).joined(separator: "/"))
      return true
    }
    return (found, content.isIncomplete)
  }

  /// Bytes as gzip.
  private static func _gzip(_ bytes: [UInt8]) throws -> [UInt8] {
    let process = try ChildProcess("gzip", ["-c"], input: Data(bytes))
    try process.start()
    process.process.waitUntilExit()
    return Array(try process.outputBytes())
  }

  /// Bytes as zlib, stored without compression.
  private static func _zlib(_ bytes: [UInt8], flags: UInt8 = 0x01) -> [UInt8] {
    let length = [UInt8(bytes.count & 255), UInt8(bytes.count >> 8)]
    return [0x78, flags, 1] + length + length.map { ~$0 } + bytes + [0, 0, 0, 0]
  }

  @Test func `zlib is unpacked, unless it needs a dictionary`() {
    #expect(_texts(Self._zlib(Array("hello there".utf8))).texts == ["zlib/hello there"])
    // The flag of a dictionary, with the check bits that belong to it.
    #expect(
      _texts(Self._zlib(Array("hello there".utf8), flags: 0x20)).texts.allSatisfy { !$0.hasPrefix("zlib/") })
  }

  /// A field of a protobuf message.
  private static func _field(_ number: UInt8, _ content: [UInt8]) -> [UInt8] {
    [number << 3 | 2]
      + (content.count < 128
        ? [UInt8(content.count)] : [UInt8(content.count & 127 | 128), UInt8(content.count >> 7)])
      + content
  }

  @Test func `Text is text`() {
    #expect(_texts(Array("{\"a\":\"b\"}".utf8)).texts == ["{\"a\":\"b\"}"])
    #expect(_texts([0xFF, 0xFE, 0]).texts.isEmpty)
  }

  @Test func `Texts are found in a message in a compressed field`() throws {
    let message = Self._field(2, Self._field(3, Array("note, the body of".utf8)) + [0x20, 0x05])
    #expect(try _texts(Self._gzip(message)).texts == ["gzip/2/3/note, the body of"])
  }

  @Test(arguments: 0..<16)
  func `What a gzip header has beside its fixed part is passed over`(_ parts: Int) throws {
    let plain = try Self._gzip(Array("inside of it".utf8))
    // gzip names no file here; the parts are an extra field, a name, a comment and a checksum of the header.
    try #require(plain[3] == 0)
    var (flags, header): (UInt8, [UInt8]) = (0, [])
    if parts & 1 != 0 { (flags, header) = (flags | 4, header + [3, 0, 7, 8, 9]) }
    if parts & 2 != 0 { (flags, header) = (flags | 8, header + Array("file".utf8) + [0]) }
    if parts & 4 != 0 { (flags, header) = (flags | 16, header + Array("comment".utf8) + [0]) }
    if parts & 8 != 0 { (flags, header) = (flags | 2, header + [1, 2]) }
    let bytes = plain[..<3] + [flags] + plain[4..<10] + header + plain[10...]
    #expect(_texts(Array(bytes)).texts == ["gzip/inside of it"])
  }

  @Test(arguments: [[0x21, 1, 2, 3, 4, 5, 6, 7, 8], [0x25, 1, 2, 3, 4], [0x20, 0x85, 0x01]] as [[UInt8]])
  func `A message may end with a number of any size`(_ number: [UInt8]) {
    let text = Self._field(3, Array("the body".utf8))
    #expect(_texts(text + number).texts == ["3/the body"])
    #expect(_texts(text + number.dropLast()).texts.allSatisfy { !$0.hasPrefix("3/") })
  }

  @Test func `Texts are found in archives`() throws {
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: ["key": "value"] as NSDictionary, requiringSecureCoding: false)
    #expect(_texts(Array(archive)).texts.contains { $0.hasSuffix("/value") })
  }

  @Test func `A bomb is not unpacked`() throws {
    var limits = ContentTexts.Limits()
    limits.unpacked = 1 << 20
    let bomb = try Self._gzip([UInt8](repeating: 0x41, count: 4 << 20))
    let found = _texts(bomb, limits)
    #expect(found.isIncomplete)
    #expect(found.texts.isEmpty)
  }

  @Test func `Depth has a limit`() {
    var message = Array("deep".utf8)
    for _ in 0..<40 { message = Self._field(1, message) }
    #expect(_texts(message).isIncomplete)
  }

  @Test func `Damaged bytes are harmless`() throws {
    let list = try PropertyListSerialization.data(
      fromPropertyList: ["a": ["b", "c", 1, Date()], "d": Data([1, 2, 3])] as [String: Any], format: .binary,
      options: 0)
    let archive = try NSKeyedArchiver.archivedData(
      withRootObject: NSArray(array: ["x", NSDictionary(dictionary: ["y": "z"])]),
      requiringSecureCoding: false)
    let samples = [
      Array(list), Array(archive), try Self._gzip(Array(list)), Self._field(1, Array("text".utf8)),
    ]
    var random = SeededRandom(seed: 7)
    for _ in 0..<4000 {
      var bytes = samples.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if Bool.random(using: &random) {
        bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
      }
      _ = _texts(bytes)
      if let json = ArchiveJSON.text(bytes) {
        #expect(throws: Never.self) {
          try JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed)
        }
      }
    }
  }
}

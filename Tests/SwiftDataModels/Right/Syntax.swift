// swift-format-ignore-file
import SwiftData

/// A class with everything around its properties. @Model { }
@Model /* a comment { */ final class Around /* another */ {
  // var commented = 1
  /* var commented: Int { */
  var a = 1; var b: Int? ; var c: String = ";"

  static let shared = 1
  static var computed: Int { 1 }
  class var overridable: Int { 2 }

  var d: Int { a + 1 }
  var e: Int {
    get { a }
    set { a = newValue }
  }
  var f: Int { get throws { 1 } }

  private(set) internal var g: Int
  @MainActor func method() {}
  func generic<T: Sequence>(_ value: T = [1, 2] as [Int], other: (Int) -> Int = { $0 }) async throws -> some Sequence
  where T.Element == Int {
    var inner = 1
    inner += 1
    return [inner]
  }
  subscript(index: Int) -> Int { index }
  static func + (left: Around, right: Around) -> Int { left.a + right.a }
  typealias Number = Int
  enum Kind: Int, Codable { case one = 1, two }
  struct Part: Codable { var value = 1 }
  var kind: Kind = .one
  var part = Part()
  deinit { print("gone") }
  convenience init?(text: String) {
    guard let number = Int(text) else { return nil }
    self.init(g: number)
  }
  init(g: Int) { self.g = g }
}

@Model final class Quoted {
  var `default`: Int = 1
  var `in`: String
  var description: String = ""
  var hash: Int = 1
  var open: Bool = false
  var get: Int = 1
  var `class`: String?
  init() { self.in = "" }
}

@Model final class Umlaute {
  var größe: Int = 1
  var 名前: String = "山"
  var 📚: [String] = ["📖"]
  init() {}
}

@Model
final
class
Spread
{
  @Attribute(
    .unique
  )
  private(set)
  var
    name:
      String
  var other
    =
    1
  init(
  )
  {
    name = ""
  }
}

@Model final class OneLine { var a: Int = 1; var b: [String: [Int]] = ["a": [1]]; let c: Int; init() { c = 1 } }

@Model final class Conditional {
  var a = 1
  #if os(Linux)
  var linux: Int = 1
  #elseif os(macOS)
  var mac: NSImage
  #else
  var other: Int?
  #endif
  #if DEBUG && !NEVER
  var debug: String?
  #endif
  #if NEVER
  var never: Missing
  #if os(Linux)
  var nested: AlsoMissing
  #endif
  #endif
  init() {}
}

@Model final class Trip {
  #Unique<Trip>([\.name, \.start], [\.code])
  #Index<Trip>([\.name], [\.name, \.start])
  var name: String = ""
  var start: Date = Date.distantPast
  var code: Int = 1
  init() {}
}

@Model final class Located {
  #Index<Located>(.binary([\.latitude]), .rtree([\.latitude, \Located.longitude]))
  var latitude = 0.0
  var longitude = 0.0
  init() {}
}

@Model final class NoInitializer {
  var a = 1
  var b: String?
  var c: [Int] = []
}

@Model final class Convenience {
  var a = 1
  convenience init(a: Int) {
    self.init()
    self.a = a
  }
}

@Model final class Throwing {
  var a: Int
  init(a: Int?) throws {
    guard let a else { throw CocoaError(.coderValueNotFound) }
    self.a = a
  }
}

@Model final class ReadBack {
  var a: Int
  var b: String
  init(a: Int) {
    self.a = a
    b = ""
    b = "\(self.a)"
    self.a += 1
  }
}


enum SchemaV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self] }

  @Model final class Note {
    var text: String
    init(text: String) { self.text = text }
  }
}

enum SchemaV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [Note.self, SchemaV1.Note.self] }
}

extension SchemaV2 {
  @Model final class Note {
    var text: String
    @Attribute(originalName: "date") var created: Date?
    init(text: String) { self.text = text }
  }
}

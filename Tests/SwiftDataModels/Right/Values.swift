// swift-format-ignore-file
import SwiftData

enum Status: String, Codable { case draft, printed }
enum Level: Int, Codable, CaseIterable { case low, high }
enum Sign: Codable { case plus, minus }
enum Payload: Codable, Equatable { case none, text(String), pair(Int, second: Double?) }
struct Place: Codable, Hashable { var latitude = 0.0, longitude = 0.0; var name: String? }
struct Nested: Codable { var place = Place(); var sign: Sign? }

@Model final class Empty { init() {} }

@Model final class Whole { var value: Int = 0 }

@Model final class Numbers {
  var a: Int8 = 1
  var b: Int16 = 2
  var c: Int32 = 3
  var d: Int64 = 4
  var e: UInt8 = 5
  var f: UInt16 = 6
  var g: UInt32 = 7
  var h: UInt = 8
  var i: Double = 9
  var j: Float = 10
  var k: Decimal = 11
  var l: TimeInterval = 12
  init() {}
}

@Model final class Texts {
  var plain = ""
  var long = """
    A line with { and "quotes" and \("an } interpolation").
    """
  var raw = #"\("none")"#
  var optional: String?
  var forced: String!
  var given: String

  init(given: String) { self.given = given }
}

@Model final class Things {
  var data = Data()
  var date = Date.now
  var day: Date = .distantPast
  var identity = UUID()
  var place = URL(string: "https://example.org")
  var flag = true
  init() {}
}

@Model final class Enumerations {
  var status: Status
  var other: Status = .draft
  var inferred = Status.printed
  var raw = Level.low.rawValue
  var level: Level?
  var sign: Sign = Sign.plus
  var payload: Payload = .text("")
  var all: [Level] = Level.allCases
  var byName: [String: Status] = [:]

  init(status: Status) { self.status = status }
}

@Model final class Composites {
  var place: Place
  var home: Place?
  var nested = Nested()
  var places: [Place] = []
  var table: [String: [Place]] = [:]
  var pairs: [[Int]] = [[1], [2]]
  var set: Set<String> = ["a"]
  init(place: Place) { self.place = place }
}

@Model final class Collections {
  var a: [String] = []
  var b = [String]()
  var c: Array<Int> = [1, 2]
  var d: Dictionary<String, Int> = Dictionary<String, Int>()
  var e: [String: Date] = [:]
  var f: [String?] = [nil]
  var g: Optional<[Int]> = .none
  var h = Optional<Int>.some(1)
  init() {}
}

@Model final class Expressions {
  var closure: Int = { let value = 4; return value }()
  var choice = true
    ? 1
    : 2
  var chain = [1, 2, 3]
    .map { $0 + 1 }
    .filter { $0 > 2 }
  var sum = 1 +
    2
  var conditional: Int = if Bool.random() { 1 } else { 2 }
  var tried = (try? Expressions.made()) ?? 5
  var cast = 1 as Double
  var member: Int = .zero
  var call = max(1, 2) /* between } */  // at the end }
  var call2: Int = Int("7")!
  var negative = -1
  var comparison = 1 < 2
  static func made() throws -> Int { 6 }
  init() {}
}

@Model final class Constants {
  let text: String
  let number: Int
  let place: Place?

  init(text: String, number: Int) {
    self.text = text
    self.number = number
    place = nil
  }
}

@Model final class Transients {
  @Transient var number = 1
  @Transient var text: String?
  @Transient let constant = UUID()
  @Transient var action: () -> Void = {}
  @Transient var pair = (1, 2)
  @Transient var cache: [ObjectIdentifier: Any] = [:]
  @Transient var computed: Int { number }
  @SwiftData.Transient var qualified: Any?
  lazy var late = 3
  var stored = 4
  init() {}
}

@Model final class Options {
  @Attribute(.unique) var a: String
  @Attribute(.externalStorage) var b: Data?
  @Attribute(.unique, originalName: "old") var c: Int = 0
  @Attribute(originalName: "older") var d = 0
  @Attribute(hashModifier: "v2") var e = 0
  @Attribute(.ephemeral) var f = 0
  @Attribute(.spotlight) var g = ""
  @Attribute(.allowsCloudEncryption) var h = ""
  @Attribute(.preserveValueOnDeletion) var i = ""
  @Attribute var j = ""
  @Attribute() var k = ""
  @Attribute(.codable) var l = Nested()
  @Attribute(
    .unique,  // so it is
    originalName: "oldest"
  )
  var m: UUID

  init(a: String) {
    self.a = a
    m = UUID()
  }
}

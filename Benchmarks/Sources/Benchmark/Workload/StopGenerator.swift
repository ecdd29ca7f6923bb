import Foundation

/// A stop's numbers; its texts stand beside, so that the floor can do without strings.
struct StopNumbers {
  var latitude: Double
  var longitude: Double
  var code: Int64
  /// Seconds since 1970.
  var createdAt: Double
  var isActive: Bool
  var hasNote: Bool
  /// From 1.
  var route: Int
}

/// A stop as a program has it before it imports it.
struct StopRecord {
  var identifier: String
  var name: String
  var note: String?
  var createdAt: Date
  var numbers: StopNumbers
}

/// Makes the workload's stops, the same ones on every machine and in every language.
struct StopGenerator {
  /// Where the texts of a stop stand in its bytes, and how long they are.
  static let identifier = 0..<17
  static let name = 17..<33
  static let note = 33..<54
  /// Bytes of one stop's texts.
  static let stride = 56

  static let routeCount = 150

  private var _numbers: SplitMix64
  /// What is added to every latitude: a second import changes this one value.
  private let _shift: Double

  init(seed: UInt64, shift: Double = 0) {
    _numbers = SplitMix64(seed: seed)
    _shift = shift
  }

  static func routeIdentifier(_ index: Int) -> String {
    let digits = String(index)
    return "R" + String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }

  /// Makes the next stop, its texts into `bytes`.
  mutating func next(into bytes: UnsafeMutablePointer<UInt8>) -> StopNumbers {
    let a = _numbers.next()
    let b = _numbers.next()
    let c = _numbers.next()
    let d = _numbers.next()
    let e = _numbers.next()
    let f = _numbers.next()
    let g = _numbers.next()
    let h = _numbers.next()
    let i = _numbers.next()
    bytes[0] = UInt8(ascii: "S")
    Self._hex(a, bytes + 1)
    for k in 0..<16 {
      bytes[Self.name.lowerBound + k] = UInt8(ascii: "A") + UInt8((b >> (4 * UInt64(k))) & 15)
    }
    let hasNote = h % 10 >= 3
    if hasNote {
      let prefix: StaticString = "note "
      for k in 0..<5 { bytes[Self.note.lowerBound + k] = prefix.utf8Start[k] }
      Self._hex(h, bytes + Self.note.lowerBound + 5)
    }
    return StopNumbers(
      latitude: -90 + Self._unit(c) * 180 + _shift, longitude: -180 + Self._unit(d) * 360,
      code: Int64(e % 1_000_000), createdAt: Double(1_600_000_000 + f % 100_000_000), isActive: g & 1 == 1,
      hasNote: hasNote, route: Int(i % UInt64(Self.routeCount)) + 1)
  }

  /// The next stops, as a Swift program has them.
  mutating func records(_ count: Int) -> [StopRecord] {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.stride) { bytes in
      let start = bytes.baseAddress!
      return (0..<count).map { _ in
        let numbers = next(into: start)
        func text(_ range: Range<Int>) -> String {
          String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
        }
        return StopRecord(
          identifier: text(Self.identifier), name: text(Self.name),
          note: numbers.hasNote ? text(Self.note) : nil,
          createdAt: Date(timeIntervalSince1970: numbers.createdAt), numbers: numbers)
      }
    }
  }

  private static func _unit(_ draw: UInt64) -> Double { Double(draw >> 11) * 0x1p-53 }

  private static func _hex(_ value: UInt64, _ bytes: UnsafeMutablePointer<UInt8>) {
    for k in 0..<16 {
      let digit = UInt8((value >> (60 - 4 * UInt64(k))) & 15)
      bytes[k] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
  }
}

/// The 1,000 questions of fetch-page and count.
struct PageQuestions: Sequence, IteratorProtocol {
  private var _numbers = SplitMix64(seed: 7)
  private var _left = 1000

  mutating func next() -> (low: Int64, initial: UInt8)? {
    guard _left > 0 else { return nil }
    _left -= 1
    let low = Int64(_numbers.next() % 800_000)
    return (low, UInt8(ascii: "A") + UInt8(_numbers.next() % 16))
  }

  /// Begins again after the last one.
  mutating func nextForever() -> (low: Int64, initial: UInt8) {
    if let question = next() { return question }
    self = PageQuestions()
    return next()!
  }
}

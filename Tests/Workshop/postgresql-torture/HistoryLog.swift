import Foundation

/// What clients record of a run, a line for each event. Times are nanoseconds of the machine's monotonic clock, which all
/// processes share and no change of the date moves.
enum HistoryEvent: Equatable {
  /// A save is about to be made: what it appends, inserts and deletes.
  case attempt(id: String, time: UInt64, parts: [Part])
  /// It has ended.
  case end(id: String, time: UInt64, Outcome)
  /// An object of a context has a list. One context reads in the order of its lines. What an object has shown before stays
  /// until it is refreshed.
  case read(context: String, begin: UInt64, register: Int, list: ListMark, isShown: Bool = false)

  /// A list in short: lists are long, and are read many times.
  struct ListMark: Equatable {
    let hash: UInt64
    let last: String

    init(_ list: [String]) {
      hash = list.reduce(Self.start, Self.hash)
      last = list.last ?? ""
    }

    init?(_ text: Substring) {
      let words = text.split(separator: ":", omittingEmptySubsequences: false)
      guard words.count == 2, let hash = UInt64(words[0]) else { return nil }
      (self.hash, last) = (hash, String(words[1]))
    }

    var text: String { "\(hash):\(last)" }

    /// The hash of the empty list.
    static let start: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Returns the hash of a list with one more element (FNV-1a).
    static func hash(_ hash: UInt64, _ element: String) -> UInt64 {
      var hash = hash
      for byte in element.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      return (hash ^ 0x2c) &* 0x100_0000_01b3
    }
  }

  enum Outcome: String { case saved, failed, unknown }

  /// A part of a save, all or nothing with the others.
  enum Part: Equatable {
    case append(register: Int, element: String)
    case insert(name: String)
    case delete(name: String)
    case claim(key: Int, owner: String)
    case release(key: Int, owner: String)

    var text: String {
      switch self {
      case .append(let register, let element): "append:\(register):\(element)"
      case .insert(let name): "insert:\(name)"
      case .delete(let name): "delete:\(name)"
      case .claim(let key, let owner): "claim:\(key):\(owner)"
      case .release(let key, let owner): "release:\(key):\(owner)"
      }
    }

    init?(_ text: Substring) {
      let words = text.split(separator: ":").map(String.init)
      switch (words.first, words.count) {
      case ("append", 3): self = .append(register: Int(words[1]) ?? -1, element: words[2])
      case ("insert", 2): self = .insert(name: words[1])
      case ("delete", 2): self = .delete(name: words[1])
      case ("claim", 3): self = .claim(key: Int(words[1]) ?? -1, owner: words[2])
      case ("release", 3): self = .release(key: Int(words[1]) ?? -1, owner: words[2])
      default: return nil
      }
    }
  }

  var line: String {
    switch self {
    case .attempt(let id, let time, let parts):
      "attempt \(id) \(time) \(parts.map(\.text).joined(separator: " "))"
    case .end(let id, let time, let outcome): "end \(id) \(time) \(outcome.rawValue)"
    case .read(let context, let begin, let register, let list, let isShown):
      "\(isShown ? "shown" : "read") \(context) \(begin) \(register) \(list.text)"
    }
  }

  /// Reads a line; nil for one that was cut off.
  init?(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 4, let time = UInt64(words[2]) else { return nil }
    switch words[0] {
    case "attempt":
      let parts = words.dropFirst(3).compactMap(Part.init)
      guard parts.count == words.count - 3 else { return nil }
      self = .attempt(id: String(words[1]), time: time, parts: parts)
    case "end":
      guard let outcome = Outcome(rawValue: String(words[3])) else { return nil }
      self = .end(id: String(words[1]), time: time, outcome)
    case "read", "shown":
      guard words.count == 5, let register = Int(words[3]), let list = ListMark(words[4]) else { return nil }
      self = .read(
        context: String(words[1]), begin: time, register: register, list: list, isShown: words[0] == "shown")
    default: return nil
    }
  }

  /// The time now.
  static var now: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Records the event in one unbuffered write: the process may be killed at any moment.
  func record() {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }
}

import Foundation

/// What a store holds after a recorded run.
struct HistoryContent {
  var lists: [Int: [String]] = [:]
  var items: [String] = []
  var claims: [(key: Int, owner: String)] = []
  /// What is wrong with it as it is.
  var faults: [String] = []
}

/// Compares what clients have recorded with what the store holds.
///
/// Lists are appended to, so that a list that was read says which saves its reader saw, and in which order: a lost update is an
/// element that is missing, a dirty read one that is not there at the end, and a read that goes back in time a list that is
/// shorter than one before.
struct HistoryJudge {
  private struct Attempt {
    let id: String
    let begin: UInt64
    let parts: [HistoryEvent.Part]
    var end: UInt64?
    /// Nil if the client was killed.
    var outcome: HistoryEvent.Outcome?
  }

  /// Seconds for which rows that were read before are shown, and the seconds that the machine may take.
  static let age = 5.0
  static let slack = 1.5

  private var _attempts: [String: Attempt] = [:]
  private struct Read {
    let context: String
    let begin: UInt64
    let register: Int
    let list: HistoryEvent.ListMark
    let isShown: Bool
  }

  private var _reads: [Read] = []
  private let _content: HistoryContent
  private let _elements: [Int: Set<String>]
  /// When a server took over that had not received every commit; zero if none did.
  private let _lost: UInt64
  private(set) var findings: [String] = []

  /// - Parameter lost: When a server took over that had not received every commit: saves that began before it may be gone.
  init(_ lines: [Substring], _ content: HistoryContent, lost: UInt64 = 0) {
    (_content, _lost) = (content, lost)
    _elements = content.lists.mapValues { Set($0) }
    for line in lines {
      switch HistoryEvent(line: line) {
      case .attempt(let id, let time, let parts): _attempts[id] = Attempt(id: id, begin: time, parts: parts)
      case .end(let id, let time, let outcome):
        _attempts[id]?.end = time
        _attempts[id]?.outcome = outcome
      case .read(let context, let begin, let register, let list, let isShown):
        _reads.append(Read(context: context, begin: begin, register: register, list: list, isShown: isShown))
      case nil: continue
      }
    }
    findings = content.faults
    _judgeLists()
    _judgeAtomicity()
    _judgeReads()
    _judgeItems()
    _judgeClaims()
  }

  /// One line on what there was to judge.
  var summary: String {
    func count(_ outcome: HistoryEvent.Outcome?) -> Int { _attempts.values.count { $0.outcome == outcome } }
    let text =
      "\(count(.saved)) saves acknowledged, \(count(.failed)) failed, \(count(.unknown)) unknown, "
      + "\(count(nil)) killed; \(_reads.count) lists read"
    if _lost == 0 { return text }
    let gone = _attempts.values.count { attempt in
      attempt.outcome == .saved
        && attempt.parts.contains {
          guard case .append(let register, let element) = $0 else { return false }
          return _elements[register]?.contains(element) != true
        }
    }
    return text + "; \(gone) of the acknowledged are gone with the server"
  }

  /// Whether a save must be there.
  private func _isSure(_ attempt: Attempt) -> Bool { attempt.outcome == .saved && attempt.begin >= _lost }

  private mutating func _judgeLists() {
    for (register, list) in _content.lists.sorted(by: { $0.key < $1.key }) {
      if Set(list).count != list.count { findings.append("list \(register) has an element twice") }
      var latest: (begin: UInt64, id: String) = (0, "")
      for id in list {
        guard let attempt = _attempts[id] else {
          findings.append("list \(register) has \(id), which no client has appended")
          continue
        }
        if attempt.outcome == .failed { findings.append("list \(register) has \(id), whose save had failed") }
        // What was acknowledged before another save began comes before it.
        if let end = attempt.end, attempt.outcome == .saved, end < latest.begin {
          findings.append("list \(register) has \(id) after \(latest.id), which began after it had ended")
        }
        if attempt.begin > latest.begin { latest = (attempt.begin, id) }
      }
    }
    for attempt in _attempts.values where _isSure(attempt) {
      for case .append(let register, let element) in attempt.parts
      where _elements[register]?.contains(element) != true {
        let seconds = Double((_attempts.values.compactMap(\.end).max() ?? 0) - (attempt.end ?? 0)) / 1e9
        findings.append(
          "list \(register) lacks \(element), which was acknowledged \(seconds) s before the end")
      }
    }
  }

  private mutating func _judgeAtomicity() {
    for attempt in _attempts.values {
      let there = attempt.parts.compactMap { part -> Bool? in
        guard case .append(let register, let element) = part else { return nil }
        return _elements[register]?.contains(element) ?? false
      }
      if Set(there).count > 1 { findings.append("\(attempt.id) was saved in part") }
    }
  }

  /// A list as it is at the end, for many comparisons.
  private struct Final {
    /// The numbers of elements of what it was before, by their hashes.
    let counts: [UInt64: Int]
    /// For each number of elements when the first of the others was acknowledged.
    let missed: [UInt64]

    init(_ list: [String], _ acknowledged: (String) -> UInt64) {
      var hash = HistoryEvent.ListMark.start
      var counts = [hash: 0]
      var missed = Array(repeating: UInt64.max, count: list.count + 1)
      for (index, element) in list.enumerated() {
        hash = HistoryEvent.ListMark.hash(hash, element)
        counts[hash] = index + 1
      }
      for index in list.indices.reversed() {
        missed[index] = min(missed[index + 1], acknowledged(list[index]))
      }
      (self.counts, self.missed) = (counts, missed)
    }
  }

  private mutating func _judgeReads() {
    let bound = UInt64((Self.age + Self.slack) * 1e9)
    let attempts = _attempts
    let finals = _content.lists.mapValues { list in
      Final(list) { attempts[$0]?.outcome == .saved ? attempts[$0]?.end ?? .max : .max }
    }
    var longest: [String: Int] = [:]
    // After a loss objects may show what is gone, until they are refreshed.
    for read in _reads where _lost == 0 || !read.isShown && read.begin >= _lost + bound {
      guard let final = finals[read.register] else { continue }
      guard let count = final.counts[read.list.hash] else {
        findings.append(
          "\(read.context) has read a list \(read.register) that never was: \(read.list.last) came last")
        continue
      }
      let key = "\(read.context) \(read.register)"
      if let before = longest[key], before > count {
        findings.append(
          "\(read.context) has read list \(read.register) with \(before) elements, later with \(count)")
      }
      longest[key] = count
      let missed = final.missed[count]
      if !read.isShown, missed != .max, missed + bound < read.begin {
        let seconds = Double(read.begin - missed) / 1e9
        findings.append("\(read.context) has read list \(read.register) as it was \(seconds) s before")
      }
    }
  }

  private mutating func _judgeItems() {
    let there = Set(_content.items)
    if there.count != _content.items.count { findings.append("an item is there twice") }
    var deleted: Set<String> = []
    var maybeDeleted: Set<String> = []
    for attempt in _attempts.values {
      for case .delete(let name) in attempt.parts {
        if _isSure(attempt) {
          deleted.insert(name)
        } else if attempt.outcome != .failed {
          maybeDeleted.insert(name)
        }
      }
    }
    for attempt in _attempts.values {
      for case .insert(let name) in attempt.parts {
        if attempt.outcome == .failed, there.contains(name) {
          findings.append("the item \(name) is there, whose save had failed")
        }
        if _isSure(attempt), !there.contains(name), !deleted.contains(name), !maybeDeleted.contains(name) {
          findings.append("the item \(name) is gone, which was acknowledged")
        }
        if deleted.contains(name), there.contains(name) {
          findings.append("the item \(name) is there, whose deletion was acknowledged")
        }
      }
    }
    for name in there where _attempts[name] == nil {
      findings.append("the item \(name) is there, which no client has inserted")
    }
  }

  private mutating func _judgeClaims() {
    if Set(_content.claims.map(\.key)).count != _content.claims.count {
      findings.append("a key is claimed twice")
    }
    let there = Set(_content.claims.map(\.owner))
    var released: Set<String> = []
    var maybeReleased: Set<String> = []
    for attempt in _attempts.values {
      for case .release(_, let owner) in attempt.parts {
        // Two may release one claim: what is gone already needs no deletion.
        if _isSure(attempt) {
          released.insert(owner)
        } else if attempt.outcome != .failed {
          maybeReleased.insert(owner)
        }
      }
    }
    for attempt in _attempts.values {
      for case .claim(let key, let owner) in attempt.parts {
        if attempt.outcome == .failed, there.contains(owner) {
          findings.append("\(owner) has key \(key), and was refused")
        }
        if released.contains(owner), there.contains(owner) {
          findings.append("\(owner) has key \(key), which was released")
        }
        if _isSure(attempt), !there.contains(owner), !released.contains(owner), !maybeReleased.contains(owner)
        {
          findings.append("\(owner) does not have key \(key), which it was given")
        }
      }
    }
  }
}

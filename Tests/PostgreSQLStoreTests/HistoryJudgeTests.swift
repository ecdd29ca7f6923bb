import Testing

@testable import postgresql_torture

/// What the judge of recorded runs finds in records that are made up: each kind of fault, and nothing in a good run.
@Suite struct HistoryJudgeTests {
  private static let _second: UInt64 = 1_000_000_000

  /// Returns the lines of a save.
  private static func _save(
    _ id: String, _ parts: [HistoryEvent.Part], from begin: UInt64, to end: UInt64?,
    _ outcome: HistoryEvent.Outcome = .saved
  ) -> [HistoryEvent] {
    let attempt = HistoryEvent.attempt(id: id, time: begin * _second, parts: parts)
    guard let end else { return [attempt] }
    return [attempt, .end(id: id, time: end * _second, outcome)]
  }

  private static func _append(
    _ id: String, _ registers: Int..., from begin: UInt64, to end: UInt64?,
    _ outcome: HistoryEvent.Outcome = .saved
  ) -> [HistoryEvent] {
    _save(id, registers.map { .append(register: $0, element: id) }, from: begin, to: end, outcome)
  }

  private static func _read(_ context: String, at begin: UInt64, _ list: String...) -> [HistoryEvent] {
    [.read(context: context, begin: begin * _second, register: 0, list: HistoryEvent.ListMark(list))]
  }

  private static func _judge(
    _ events: [[HistoryEvent]], lost: UInt64 = 0, _ change: (inout HistoryContent) -> Void
  ) -> [String] {
    var content = HistoryContent()
    change(&content)
    // Through the text of the record.
    let lines = events.joined().map { Substring($0.line) }
    return HistoryJudge(lines, content, lost: lost * _second).findings
  }

  @Test func `a run in which everything is right has no findings`() {
    let findings = Self._judge([
      Self._append("a", 0, 1, from: 1, to: 2), Self._append("b", 0, from: 3, to: 4),
      Self._append("c", 0, from: 4, to: 5, .failed), Self._append("d", 0, from: 5, to: nil),
      Self._read("x", at: 3, "a"), Self._read("x", at: 6, "a", "b"),
      Self._save("i", [.insert(name: "i")], from: 1, to: 2),
      Self._save("k", [.claim(key: 1, owner: "k")], from: 1, to: 2),
    ]) { content in
      content.lists = [0: ["a", "b", "d"], 1: ["a"]]
      content.items = ["i"]
      content.claims = [(1, "k")]
    }
    #expect(findings == [])
  }

  @Test func `a lost update is found`() {
    let findings = Self._judge([
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 1, to: 3),
    ]) { $0.lists = [0: ["b"]] }
    #expect(findings == ["list 0 lacks a, which was acknowledged 1.0 s before the end"])
  }

  @Test func `a failed save that is there is found`() {
    let findings = Self._judge([Self._append("a", 0, from: 1, to: 2, .failed)]) { $0.lists = [0: ["a"]] }
    #expect(findings == ["list 0 has a, whose save had failed"])
  }

  @Test func `a save that is there in part is found, even if its client was killed`() {
    let findings = Self._judge([Self._append("a", 0, 1, from: 1, to: nil)]) { $0.lists = [0: ["a"], 1: []] }
    #expect(findings == ["a was saved in part"])
  }

  @Test func `a read of what never was is found`() {
    let findings = Self._judge([
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 2, to: 3, .failed),
      Self._read("x", at: 3, "a", "b"),
    ]) { $0.lists = [0: ["a"]] }
    #expect(findings.count == 1 && findings[0].hasPrefix("x has read a list 0 that never was"))
  }

  @Test func `a context that goes back in time is found`() {
    let events = [
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 2, to: 3),
      Self._read("x", at: 4, "a", "b"), Self._read("x", at: 5, "a"), Self._read("y", at: 5, "a"),
    ]
    let findings = Self._judge(events) { $0.lists = [0: ["a", "b"]] }
    #expect(findings == ["x has read list 0 with 2 elements, later with 1"])
  }

  @Test func `a read that is older than promised is found`() {
    let events = [
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 2, to: 3),
      Self._read("x", at: 9, "a"), Self._read("y", at: 10, "a"),
    ]
    let findings = Self._judge(events) { $0.lists = [0: ["a", "b"]] }
    #expect(findings == ["y has read list 0 as it was 7.0 s before"])
  }

  @Test func `what an object has shown before may be old, and not what never was`() {
    func shown(_ list: String...) -> [HistoryEvent] {
      [
        .read(
          context: "x", begin: 20 * Self._second, register: 0, list: HistoryEvent.ListMark(list),
          isShown: true)
      ]
    }
    let saves = Self._append("a", 0, from: 1, to: 2) + Self._append("b", 0, from: 2, to: 3)
    #expect(Self._judge([saves, shown("a")]) { $0.lists = [0: ["a", "b"]] } == [])
    #expect(Self._judge([saves, shown("b")]) { $0.lists = [0: ["a", "b"]] }.count == 1)
  }

  @Test func `saves in another order than they were acknowledged in are found`() {
    let findings = Self._judge([
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 3, to: 4),
    ]) { $0.lists = [0: ["b", "a"]] }
    #expect(findings == ["list 0 has a after b, which began after it had ended"])
  }

  @Test func `an item that is gone, back or there twice is found`() {
    let events = [
      Self._save("i", [.insert(name: "i")], from: 1, to: 2),
      Self._save("j", [.insert(name: "j")], from: 1, to: 2),
      Self._save("k", [.insert(name: "k")], from: 1, to: 2),
      Self._save("l", [.delete(name: "j")], from: 3, to: 4),
    ]
    let findings = Self._judge(events) { $0.items = ["j", "k", "k"] }
    #expect(
      findings.sorted() == [
        "an item is there twice", "the item i is gone, which was acknowledged",
        "the item j is there, whose deletion was acknowledged",
      ])
  }

  @Test func `a key that two have is found`() {
    let events = [
      Self._save("a", [.claim(key: 1, owner: "a")], from: 1, to: 2),
      Self._save("b", [.claim(key: 1, owner: "b")], from: 1, to: 2),
    ]
    #expect(Self._judge(events) { $0.claims = [(1, "a"), (1, "b")] } == ["a key is claimed twice"])
    #expect(Self._judge(events) { $0.claims = [(1, "a")] } == ["b does not have key 1, which it was given"])
  }

  @Test func `what was saved before a server took over may be gone, and what came later may not`() {
    let events = [
      Self._append("a", 0, from: 1, to: 2), Self._append("b", 0, from: 6, to: 7),
      Self._read("x", at: 3, "a"), Self._read("x", at: 20, "b"),
    ]
    #expect(Self._judge(events, lost: 5) { $0.lists = [0: ["b"]] } == [])
    #expect(
      Self._judge(events, lost: 5) { $0.lists = [0: []] }.first
        == "list 0 lacks b, which was acknowledged 0.0 s before the end")
  }

  @Test func `a line that was cut off is no event`() {
    let line = HistoryEvent.attempt(id: "a", time: 12, parts: [.append(register: 3, element: "a")]).line
    #expect(HistoryEvent(line: Substring(line)) != nil)
    #expect(HistoryEvent(line: line.dropLast(4)) == nil)
    #expect(HistoryEvent(line: "read x") == nil)
  }
}

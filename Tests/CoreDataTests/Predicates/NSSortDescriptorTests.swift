import Testing

@testable import CoreData

@Suite struct NSSortDescriptorTests {
  private func _sorted(_ values: [Any], _ descriptors: NSSortDescriptor...) -> [Any] {
    NSArray(array: values).sortedArray(using: descriptors)
  }

  @Test func `a key can be read back`() {
    let descriptor = NSSortDescriptor(key: "a.b", ascending: false)
    #expect(descriptor.key == "a.b")
    #expect(!descriptor.ascending)
    #expect(descriptor.selector == "compare:")
    let reversed = descriptor.reversedSortDescriptor as? NSSortDescriptor
    #expect(reversed?.key == "a.b" && reversed?.ascending == true)
  }

  @Test func `dictionaries are sorted by key nil first`() {
    let rows: [[String: Any]] = [["n": 2, "s": "b"], ["n": 1, "s": "x"], ["s": "z"], ["n": 2, "s": "a"]]
    let sorted = _sorted(
      rows, NSSortDescriptor(key: "n", ascending: true), NSSortDescriptor(key: "s", ascending: false))
    #expect(sorted.compactMap { ($0 as? [String: Any])?["s"] as? String } == ["z", "x", "b", "a"])
  }

  @Test func `plain strings are sorted by bytes and by selector`() {
    let words = ["b", "A", "a", "B", "file10", "file9"]
    #expect(
      _sorted(words, NSSortDescriptor(key: nil, ascending: true)) as? [String] == [
        "A", "B", "a", "b", "file10", "file9",
      ])
    let natural = NSSortDescriptor(key: "self", ascending: true, selector: "localizedStandardCompare:")
    #expect(_sorted(words, natural) as? [String] == ["a", "A", "b", "B", "file9", "file10"])
  }

  @Test func `a closure may compare`() {
    let byLength = NSSortDescriptor(key: "s", ascending: false) { left, right in
      let (l, r) = ((left as? String ?? "").count, (right as? String ?? "").count)
      return l < r ? .orderedAscending : l == r ? .orderedSame : .orderedDescending
    }
    let sorted = _sorted([["s": "aaa"], ["s": "b"], ["s": "cccc"]], byLength)
    #expect(sorted.compactMap { ($0 as? [String: Any])?["s"] as? String } == ["cccc", "aaa", "b"])
    #expect(byLength.selector == nil)
    #expect(throws: SortTermError.closure("s")) { try byLength.sortTerm() }
  }

  @Test(arguments: FetchPlan.SortTerm.Comparison.all)
  func `a store is told key direction and comparison`(comparison: FetchPlan.SortTerm.Comparison) throws {
    let descriptor = NSSortDescriptor(key: "a.b", ascending: false, selector: comparison.selectorName)
    let expected = FetchPlan.SortTerm(keyPath: ["a", "b"], ascending: false, comparison: comparison)
    #expect(try descriptor.sortTerm() == expected)
  }

  @Test func `equal descriptors are equal`() {
    #expect(
      NSSortDescriptor(key: "a", ascending: true)
        == NSSortDescriptor(key: "a", ascending: true, selector: "compare:"))
    #expect(NSSortDescriptor(key: "a", ascending: true) != NSSortDescriptor(key: "a", ascending: false))
    #expect(throws: SortTermError.self) { try NSSortDescriptor(key: nil, ascending: true).sortTerm() }
  }

  @Test func `an unknown selector traps`() async {
    await #expect(processExitsWith: .failure) {
      _ = NSSortDescriptor(key: "a", ascending: true, selector: "foo:")
    }
  }
}

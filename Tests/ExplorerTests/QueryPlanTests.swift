import Testing

@testable import CoreDataExplorer

/// SQLite's plan of a query, with a word about each step.
@Suite struct QueryPlanTests {
  @Test(arguments: [
    ("SEARCH ZBOOK USING INDEX i (ZTITLE=?)", false, "good", "finds rows"),
    ("SCAN ZBOOK USING INDEX i", false, "fair", "reads an index"),
    ("SCAN ZBOOK USING INDEX i", true, "fair", "reads an index"),
    ("SCAN ZBOOK", false, "slow", "reads all rows"),
    ("SCAN ZBOOK", true, "fair", "reads rows until the page is full"),
    ("USE TEMP B-TREE FOR ORDER BY", true, "slow", "sorts"), ("COMPOUND QUERY", false, "plain", "step"),
  ])
  func `a step says what it costs`(_ line: String, _ stopsEarly: Bool, _ kind: String, _ word: String) {
    let text = SQLView.plan([line], stopsEarly: stopsEarly).markup
    #expect(text.contains("<li class=\"\(kind)\"><span class=\"badge\">\(word)</span>"), "\(text)")
  }

  @Test func `steps stand below the one that they belong to`() {
    let text = SQLView.plan(["COMPOUND QUERY", "  SCAN a", "  SCAN b", "SCAN c"], stopsEarly: false).markup
    let tags = text.matches(of: /<\/?ul|<code>([^<]*)/).map { String($0.1 ?? $0.0) }
    #expect(tags == ["<ul", "COMPOUND QUERY", "<ul", "SCAN a", "SCAN b", "</ul", "SCAN c", "</ul"])
  }
}

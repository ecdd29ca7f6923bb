/// Suggests corrections of misspelt names.
enum Spelling {
  /// Returns the candidate with the smallest edit distance, if it is close enough to be a typo.
  static func nearest(to name: String, in candidates: [String]) -> String? {
    let limit = max(1, name.count / 3)
    return
      candidates
      .map { ($0, distance(Array(name.lowercased()), Array($0.lowercased()))) }
      .filter { $0.1 <= limit }
      .min { $0.1 < $1.1 }?.0
  }

  /// Number of characters to insert, remove, replace, or swap with a neighbour.
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    var before: [Int] = []
    var row = Array(0...b.count)
    for (i, x) in a.enumerated() {
      var next = [i + 1]
      for (j, y) in b.enumerated() {
        var edits = min(next[j] + 1, row[j + 1] + 1, row[j] + (x == y ? 0 : 1))
        if i > 0, j > 0, x == b[j - 1], a[i - 1] == y { edits = min(edits, before[j - 1] + 1) }
        next.append(edits)
      }
      (before, row) = (row, next)
    }
    return row[b.count]
  }
}

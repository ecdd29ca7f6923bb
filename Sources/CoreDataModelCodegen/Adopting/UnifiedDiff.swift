/// The difference of two texts, line by line, in the form that `diff -u` and version control show.
package enum UnifiedDiff {
  /// - Parameter path: Name of the file, for the header.
  /// - Returns: An empty text if there are no differences.
  package static func text(from old: String, to new: String, path: String, context: Int = 3) -> String {
    let (before, after) = (_lines(old), _lines(new))
    let rows = _rows(before, after)
    let changed = rows.indices.filter { rows[$0].sign != " " }
    guard !changed.isEmpty else { return "" }
    var text = "--- \(path)\n+++ \(path)\n"
    var index = 0
    while index < changed.count {
      let first = changed[index]
      // Changes with few lines between them share a hunk.
      var last = first
      while index + 1 < changed.count, changed[index + 1] - last <= 2 * context {
        index += 1
        last = changed[index]
      }
      index += 1
      let hunk = rows[max(0, first - context)...min(rows.count - 1, last + context)]
      let (oldCount, newCount) = (hunk.count { $0.sign != "+" }, hunk.count { $0.sign != "-" })
      let start = hunk[hunk.startIndex]
      text += "@@ -\(start.old),\(oldCount) +\(start.new),\(newCount) @@\n"
      for row in hunk { text += "\(row.sign)\(row.text)\n" }
    }
    return text
  }

  private struct Row {
    let sign: Character
    let text: Substring
    /// Line numbers in both texts.
    let old: Int
    let new: Int
  }

  private static func _lines(_ text: String) -> [Substring] {
    // By bytes: a carriage return and the following line feed are one character.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      Substring($0)
    }
    if lines.last?.isEmpty ?? false { lines.removeLast() }
    return lines
  }

  private static func _rows(_ before: [Substring], _ after: [Substring]) -> [Row] {
    let difference = after.difference(from: before)
    var removed: Set<Int> = []
    var inserted: Set<Int> = []
    for change in difference {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var rows: [Row] = []
    var (old, new) = (0, 0)
    while old < before.count || new < after.count {
      if old < before.count, removed.contains(old) {
        rows.append(Row(sign: "-", text: before[old], old: old + 1, new: new + 1))
        old += 1
      } else if new < after.count, inserted.contains(new) {
        rows.append(Row(sign: "+", text: after[new], old: old + 1, new: new + 1))
        new += 1
      } else {
        rows.append(Row(sign: " ", text: before[old], old: old + 1, new: new + 1))
        old += 1
        new += 1
      }
    }
    return rows
  }
}

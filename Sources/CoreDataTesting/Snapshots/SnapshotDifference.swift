/// The lines in which two texts differ, with a few around them.
struct SnapshotDifference: CustomStringConvertible {
  private static let _context = 2
  private static let _most = 80
  private let _lines: [(mark: Character, text: Substring)]

  /// - Parameters:
  ///   - old: The recorded text, whose own lines are marked with `-`.
  ///   - new: The present text, whose own lines are marked with `+`.
  init(from old: String, to new: String) {
    let (old, new) = (
      old.split(separator: "\n", omittingEmptySubsequences: false),
      new.split(separator: "\n", omittingEmptySubsequences: false)
    )
    var (removed, inserted): (Set<Int>, Set<Int>) = ([], [])
    for change in new.difference(from: old) {
      switch change {
      case .remove(let offset, _, _): removed.insert(offset)
      case .insert(let offset, _, _): inserted.insert(offset)
      }
    }
    var lines: [(mark: Character, text: Substring)] = []
    var (left, right) = (0, 0)
    while left < old.count || right < new.count {
      if removed.contains(left) {
        lines.append(("-", old[left]))
        left += 1
      } else if inserted.contains(right) {
        lines.append(("+", new[right]))
        right += 1
      } else {
        lines.append((" ", old[left]))
        left += 1
        right += 1
      }
    }
    _lines = lines
  }

  /// The lines as in a unified difference, each object with its heading.
  var description: String {
    let changed = _lines.indices.filter { _lines[$0].mark != " " }
    var shown: Set<Int> = []
    for place in changed {
      shown.formUnion(max(0, place - Self._context)...min(_lines.count - 1, place + Self._context))
      // Which object it is.
      if let heading = _lines[...place].lastIndex(where: { !$0.text.isEmpty && !$0.text.hasPrefix(" ") }) {
        shown.insert(heading)
      }
    }
    var result: [String] = []
    var last = -1
    for place in shown.sorted() {
      if place > last + 1 { result.append("  …") }
      result.append("\(_lines[place].mark) \(_lines[place].text)")
      last = place
    }
    if last < _lines.count - 1 { result.append("  …") }
    let rest = result.count - Self._most
    return result.prefix(Self._most).joined(separator: "\n")
      + (rest > 0 ? "\n  … and \(rest) more lines" : "")
  }
}

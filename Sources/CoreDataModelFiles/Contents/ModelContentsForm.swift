/// The form of a model's `contents` as Xcode writes it: one tag in each line, four spaces per level,
/// attributes separated by one space.
///
/// Xcode chooses the order and writes values that are the default as well; neither is checked.
package enum ModelContentsForm {
  /// Whether a well-formed text has this form.
  package static func isKept(by text: String) -> Bool {
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    if lines.last?.isEmpty == true { lines.removeLast() }
    guard let head = lines.popFirst(), head.starts(with: "<?xml version=\"1.0\" encoding=\"UTF-8\"".utf8),
      head.last == UInt8(ascii: ">")
    else { return false }
    var level = 0
    for line in lines {
      guard let tag = _Tag(line) else { return false }
      if tag.isEnd { level -= 1 }
      guard tag.indent == 4 * level else { return false }
      if !tag.isEnd, !tag.isEmpty { level += 1 }
    }
    return level == 0
  }

  private struct _Tag {
    let indent: Int
    let isEnd: Bool
    let isEmpty: Bool

    /// Nil unless the line is one tag.
    init?(_ line: Substring.UTF8View) {
      let start = line.firstIndex { $0 != UInt8(ascii: " ") } ?? line.endIndex
      indent = line.distance(from: line.startIndex, to: start)
      var rest = line[start...]
      guard rest.popFirst() == UInt8(ascii: "<") else { return nil }
      isEnd = rest.first == UInt8(ascii: "/")
      if isEnd { rest.removeFirst() }
      guard Self._takeName(&rest) else { return nil }
      while !isEnd, rest.first == UInt8(ascii: " ") {
        rest.removeFirst()
        guard Self._takeName(&rest), rest.popFirst() == UInt8(ascii: "="),
          rest.popFirst() == UInt8(ascii: "\""), let end = rest.firstIndex(of: UInt8(ascii: "\""))
        else { return nil }
        rest = rest[rest.index(after: end)...]
      }
      isEmpty = rest.first == UInt8(ascii: "/")
      if isEmpty { rest.removeFirst() }
      guard rest.popFirst() == UInt8(ascii: ">"), rest.isEmpty else { return nil }
    }

    private static func _takeName(_ rest: inout Substring.UTF8View) -> Bool {
      let end = rest.firstIndex { " =/>\"".utf8.contains($0) } ?? rest.endIndex
      defer { rest = rest[end...] }
      return end > rest.startIndex
    }
  }
}

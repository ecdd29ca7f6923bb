/// A table in plain text, its columns aligned.
package struct TextTable: Sendable {
  package enum Alignment: Sendable { case left, right }

  /// One field, with the style it has where colours are shown.
  package struct Cell: Sendable, ExpressibleByStringLiteral {
    package let text: String
    package let style: TextStyle

    package init(_ text: String, _ style: TextStyle = .plain) {
      self.text = text
      self.style = style
    }

    package init(stringLiteral text: String) { self.init(text) }
  }

  /// A column; neighbours of the same group share a heading above their own.
  package struct Column: Sendable {
    package let title: String
    package let alignment: Alignment
    package let group: String?

    package init(_ title: String, _ alignment: Alignment, in group: String? = nil) {
      self.title = title
      self.alignment = alignment
      self.group = group
    }
  }

  private let _columns: [Column]
  private var _rows: [[Cell]] = []

  /// A table without lines yet; numbers go to the right.
  package init(_ columns: [Column]) { _columns = columns }

  /// Adds a line; missing fields stay blank.
  package mutating func add(_ cells: [Cell]) {
    precondition(cells.count <= _columns.count)
    _rows.append(cells + Array(repeating: "", count: _columns.count - cells.count))
  }

  /// The table, each line ended, no blanks at the end of lines.
  package func text(usesColor: Bool) -> String {
    let widths = _columns.indices.map { column in
      _rows.reduce(TextWidth.of(_columns[column].title)) { max($0, TextWidth.of($1[column].text)) }
    }
    let header = _columns.map { Cell($0.title, .bold) }
    let lines = ([header] + _rows).map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        if column > 0 { line += "  " }
        let styled = cell.style.applied(to: cell.text, usesColor: usesColor)
        let blanks = String(repeating: " ", count: widths[column] - TextWidth.of(cell.text))
        let isLast = column == row.count - 1
        switch _columns[column].alignment {
        case .left: line += styled + (isLast ? "" : blanks)
        case .right: line += blanks + styled
        }
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }
    return _groupLine(widths, usesColor: usesColor) + lines.joined()
  }
  /// The line above the titles, with each group's heading in the middle of its columns; none without groups.
  private func _groupLine(_ widths: [Int], usesColor: Bool) -> String {
    guard _columns.contains(where: { $0.group != nil }) else { return "" }
    var line = ""
    var first = 0
    while first < _columns.count {
      let group = _columns[first].group
      let end =
        group == nil ? first + 1 : _columns[first...].firstIndex { $0.group != group } ?? _columns.count
      let width = widths[first..<end].reduce(2 * (end - first - 1), +)
      let title = TextWidth.truncated(group ?? "", to: width)
      let left = (width - TextWidth.of(title) + 1) / 2
      if first > 0 { line += "  " }
      line += String(repeating: " ", count: left)
      line += TextStyle.bold.applied(to: title, usesColor: usesColor)
      line += String(repeating: " ", count: width - left - TextWidth.of(title))
      first = end
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}

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

  private let _titles: [String]
  private let _alignments: [Alignment]
  private var _rows: [[Cell]] = []

  /// Columns by title; numbers go to the right.
  package init(_ columns: [(title: String, alignment: Alignment)]) {
    _titles = columns.map(\.title)
    _alignments = columns.map(\.alignment)
  }

  /// Adds a line; missing fields stay blank.
  package mutating func add(_ cells: [Cell]) {
    precondition(cells.count <= _titles.count)
    _rows.append(cells + Array(repeating: "", count: _titles.count - cells.count))
  }

  /// The table, each line ended, no blanks at the end of lines.
  package func text(usesColor: Bool) -> String {
    let widths = _titles.indices.map { column in
      _rows.reduce(TextWidth.of(_titles[column])) { max($0, TextWidth.of($1[column].text)) }
    }
    let header = _titles.map { Cell($0, .bold) }
    return ([header] + _rows).map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        if column > 0 { line += "  " }
        let styled = cell.style.applied(to: cell.text, usesColor: usesColor)
        let blanks = String(repeating: " ", count: widths[column] - TextWidth.of(cell.text))
        let isLast = column == row.count - 1
        switch _alignments[column] {
        case .left: line += styled + (isLast ? "" : blanks)
        case .right: line += blanks + styled
        }
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}

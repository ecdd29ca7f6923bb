/// A table in plain text, its columns aligned.
package struct TextTable: Sendable {
  package enum Alignment: Sendable { case left, right }

  /// One field, with its style if colours are enabled.
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

  private var _columns: [Column]
  private var _rows: [[Cell]] = []

  /// An empty table; numbers are right-aligned.
  package init(_ columns: [Column]) { _columns = columns }

  /// Adds a line; missing fields stay blank.
  package mutating func add(_ cells: [Cell]) {
    precondition(cells.count <= _columns.count)
    _rows.append(cells + Array(repeating: "", count: _columns.count - cells.count))
  }

  /// The table cut to a width: the widest columns are narrowed first, down to a dozen characters; if that is
  /// not enough, the last columns are omitted.
  ///
  /// - Returns: The table, and the titles of the omitted columns.
  package func fitted(to width: Int) -> (table: TextTable, dropped: [String]) {
    var widths = self.widths
    while !widths.isEmpty {
      let total = widths.reduce(2 * (widths.count - 1), +)
      guard total > width else { break }
      guard let widest = widths.indices.max(by: { widths[$0] < widths[$1] }), widths[widest] > 12 else {
        // One column is shown however narrow the terminal.
        if widths.count == 1 { break }
        widths.removeLast()
        // The other columns get the space that the last one does not use.
        for column in widths.indices { widths[column] = self.widths[column] }
        continue
      }
      let next = widths.filter { $0 < widths[widest] }.max() ?? 0
      widths[widest] = max(12, next, widths[widest] - (total - width))
    }
    var table = TextTable(Array(_columns.prefix(widths.count)))
    for row in _rows {
      table._rows.append(
        zip(row, widths).map { Cell(TextWidth.truncated($0.text, to: $1), $0.style) })
    }
    for column in widths.indices where TextWidth.of(_columns[column].title) > widths[column] {
      table._columns[column] = Column(
        TextWidth.truncated(_columns[column].title, to: widths[column]), _columns[column].alignment,
        in: _columns[column].group)
    }
    return (table, _columns.dropFirst(widths.count).map(\.title))
  }

  /// Widths of the table's columns.
  package var widths: [Int] {
    _columns.indices.map { column in
      _rows.reduce(TextWidth.of(_columns[column].title)) { max($0, TextWidth.of($1[column].text)) }
    }
  }

  /// The table, with a line end after each line and no trailing spaces.
  package func text(usesColor: Bool) -> String {
    let widths = self.widths
    let header = _line(_columns.map { Cell($0.title, .bold) }, widths, usesColor: usesColor)
    return _groupLine(widths, usesColor: usesColor) + header
      + _rows.map { _line($0, widths, usesColor: usesColor) }.joined()
  }

  /// The rows without titles, to continue a table with these column widths; wider fields overflow.
  package func lines(widths: [Int]) -> String {
    _rows.map { _line($0, widths, usesColor: false) }.joined()
  }

  private func _line(_ row: [Cell], _ widths: [Int], usesColor: Bool) -> String {
    var line = ""
    for (column, cell) in row.enumerated() {
      if column > 0 { line += "  " }
      let styled = cell.style.applied(to: cell.text, usesColor: usesColor)
      let blanks = String(repeating: " ", count: max(0, widths[column] - TextWidth.of(cell.text)))
      let isLast = column == row.count - 1
      switch _columns[column].alignment {
      case .left: line += styled + (isLast ? "" : blanks)
      case .right: line += blanks + styled
      }
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }

  /// The line above the titles, with each group's heading centred over its columns; empty without groups.
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

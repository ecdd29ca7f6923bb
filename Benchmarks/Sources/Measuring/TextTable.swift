import Foundation

/// Tables for a terminal.
package enum TextTable {
  /// Lines with the first column to the left, the others to the right.
  package static func aligned(_ lines: [[String]]) -> String {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      line.indices.map { column in
        let gap = String(repeating: " ", count: widths[column] - line[column].count)
        return column == 0 ? line[column] + gap : gap + line[column]
      }.joined(separator: "  ") + "\n"
    }.joined()
  }

  /// A number with three digits at least.
  package static func number(_ value: Double) -> String {
    value >= 100 ? String(Int(value.rounded())) : String(format: value >= 10 ? "%.1f" : "%.2f", value)
  }
}

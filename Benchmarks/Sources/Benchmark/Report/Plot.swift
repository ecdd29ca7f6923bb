import Foundation

/// A drawing of the ratios beside those of an earlier run.
struct Plot {
  let now: Document
  let before: Document?

  private static let _left = 220.0
  private static let _width = 560.0
  private static let _row = 34.0

  var svg: String {
    let top = 56.0
    let height = top + Double(now.results.count) * Self._row + 40
    let most = max(3, now.results.map(\.ratio).max() ?? 1, before?.results.map(\.ratio).max() ?? 1)
    func x(_ ratio: Double) -> Double { Self._left + min(ratio, most) / most * Self._width }
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="860" height="\(Int(height))" font-family="sans-serif" font-size="13">
      <rect width="100%" height="100%" fill="#ffffff"/>
      <text x="16" y="24" font-size="16">Time over \(now.isOnServer ? "libpq" : "SQLite's C API") doing the same work (shorter is better)</text>
      <text x="16" y="43" fill="#666666">\(_escaped(now.date)); dashed: at most, brown: missed\(before.map { "; hollow: \(_escaped($0.date))" } ?? "")</text>
      """
    ]
    for tick in 0...Int(most) {
      let place = x(Double(tick))
      parts.append(
        """
        <line x1="\(place)" y1="\(top)" x2="\(place)" y2="\(height - 30)" stroke="\(tick == 1 ? "#888888" : "#dddddd")"/>
        <text x="\(place)" y="\(height - 12)" text-anchor="middle" fill="#666666">\(tick)</text>
        """)
    }
    for (index, result) in now.results.enumerated() {
      let y = top + Double(index) * Self._row + 4
      let limit = Work(rawValue: result.work).flatMap { now.isOnServer ? $0.limitOnServer : $0.limit }
      let fits = limit.map { result.ratio <= $0 } ?? true
      parts.append(
        """
        <text x="\(Self._left - 10)" y="\(y + 16)" text-anchor="end">\(_escaped(result.work)), \(result.objects)</text>
        <rect x="\(Self._left)" y="\(y)" width="\(x(result.ratio) - Self._left)" height="14" \
        fill="\(fits ? "#2f7d5b" : "#b5522e")"/>
        <text x="\(_label(x(result.ratio), limit.map(x)))" y="\(y + 12)">\(String(format: "%.2f", result.ratio))</text>
        """)
      if let limit {
        parts.append(
          "<line x1=\"\(x(limit))\" y1=\"\(y - 2)\" x2=\"\(x(limit))\" y2=\"\(y + 24)\" stroke=\"#000000\" "
            + "stroke-dasharray=\"3 2\"/>")
      }
      if let old = before?.results.first(where: { $0.work == result.work && $0.objects == result.objects }) {
        parts.append(
          "<rect x=\"\(Self._left)\" y=\"\(y + 16)\" width=\"\(x(old.ratio) - Self._left)\" height=\"6\" "
            + "fill=\"none\" stroke=\"#666666\"/>")
      }
    }
    parts.append("</svg>\n")
    return parts.joined(separator: "\n")
  }

  /// Where the figure stands: behind its bar, or behind the limit where that would run through it.
  private func _label(_ end: Double, _ limit: Double?) -> Double {
    guard let limit, (end...end + 40).contains(limit) else { return end + 6 }
    return limit + 6
  }

  private func _escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
  }
}

/// Numbers of equal parts of a range as bars, each a link.
struct BarFigure {
  struct Bar {
    let count: Int
    /// What the bar stands for, in words.
    let words: String
    let place: Place
  }

  let label: String
  /// Nil for a part without anything.
  let bars: [Bar?]
  var height = 64

  var html: HTML {
    let most = max(1, bars.compactMap { $0?.count }.max() ?? 1)
    let links = bars.enumerated().compactMap { index, bar -> HTML? in
      guard let bar else { return nil }
      let length = max(2, Int((Double(bar.count) / Double(most) * Double(height - 2)).rounded()))
      return .tag(
        "a", ["href": bar.place.address, "aria-label": bar.words], .tag("title", [:], HTML(bar.words)),
        // A short bar is reached over the whole height.
        .tag(
          "rect",
          ["class": "reach", "x": String(index * 10), "y": "0", "width": "10", "height": String(height)]),
        .tag(
          "rect",
          [
            "x": String(index * 10 + 1), "y": String(height - length), "width": "8", "height": String(length),
            "rx": "1",
          ]))
    }
    return .tag(
      "svg",
      [
        "viewBox": "0 0 \(bars.count * 10) \(height)", "preserveAspectRatio": "none", "role": "group",
        "aria-label": label,
      ], links)
  }
}

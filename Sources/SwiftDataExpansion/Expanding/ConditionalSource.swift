/// Source that stands under the same `#if` as what it was made for.
enum ConditionalSource {
  /// - Parameter source: Whole lines.
  static func wrapped(_ source: String, in branches: [ConditionalBranch]) -> String {
    var head = ""
    var foot = ""
    for branch in branches {
      head += branch.lines.map { $0 + "\n" }.joined()
      foot += "#endif\n"
    }
    return head + source + foot
  }
}

/// Wraps generated source in the same `#if` as the declaration that it belongs to.
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

/// Compares spellings, for messages.
enum Spelling {
  /// The name that was probably meant: the one with the fewest changed, missing or surplus letters, if they are few.
  static func closest(to wrong: String, among names: [String]) -> String? {
    guard wrong.utf8.count <= 64 else { return nil }
    let limit = max(1, wrong.count / 3) + 1
    return names.filter { $0.utf8.count <= 64 }.map { ($0, _distance(wrong, $0)) }.filter { $0.1 <= limit }
      .min { $0.1 < $1.1 }?.0
  }

  /// Number of letters to insert, remove or replace to make one of the other.
  private static func _distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (line, letter) in left.enumerated() {
      var next = [line + 1]
      for (column, other) in right.enumerated() {
        next.append(
          letter == other ? row[column] : 1 + min(row[column], row[column + 1], next[column]))
      }
      row = next
    }
    return row[right.count]
  }
}

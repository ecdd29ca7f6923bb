/// Guesses the intended word for a misspelt one.
package enum SpellingSuggestion {
  /// The candidate nearest to `word`, if it is near enough to be a typing error of it.
  ///
  /// Near enough is one error in a short word and up to a third of the letters in a longer one; of equally
  /// near candidates the first one wins.
  package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let limit = max(1, word.count / 3)
    var best: (candidate: String, distance: Int)?
    for candidate in candidates {
      let distance = editDistance(word.lowercased(), candidate.lowercased())
      guard distance <= limit, distance < (best?.distance ?? .max) else { continue }
      best = (candidate, distance)
    }
    return best?.candidate
  }

  /// Asks whether the nearest candidate was meant, as a sentence after a space; without a candidate, returns
  /// a fallback.
  package static func question(
    about word: String, among candidates: some Sequence<String>, or otherwise: String = ""
  ) -> String {
    nearest(to: word, among: candidates).map(question) ?? otherwise
  }

  /// The sentence " Did you mean '…'?" for this word.
  package static func question(_ word: String) -> String { " Did you mean '\(word)'?" }

  /// Number of letters to insert, delete, replace or swap with their neighbour to turn one word into the
  /// other.
  package static func editDistance(_ left: String, _ right: String) -> Int {
    let left = Array(left), right = Array(right)
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    var current = last
    for i in 1...left.count {
      current[0] = i
      for j in 1...right.count {
        let replaced = last[j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1)
        current[j] = min(replaced, last[j] + 1, current[j - 1] + 1)
        if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
          current[j] = min(current[j], beforeLast[j - 2] + 1)
        }
      }
      (beforeLast, last, current) = (last, current, beforeLast)
    }
    return last[right.count]
  }
}

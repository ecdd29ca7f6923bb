/// Conclusions from a result about the choice of a design, in sentences.
struct Verdict {
  private let _stacks: [ShootoutResult.Stack]
  private let _floorSeconds: Double
  private let _recommendation: Recommendation
  private let _advice: [ScreenAdvice]
  private let _replay: ReplayVerdict

  /// Totals within this factor count as equal.
  private static let _noise = 1.05

  init(_ result: ShootoutResult) {
    _stacks = result.stacks
    _floorSeconds = result.floorSeconds
    _recommendation = Recommendation(result)
    _advice = result.advice
    _replay = ReplayVerdict(result)
  }

  /// The sentences; empty without a stack.
  var sentences: [String] { lines.map(\.sentence) }

  /// The sentences with what explains them.
  var lines: [(sentence: String, article: Article)] {
    guard !_stacks.isEmpty else { return [] }
    let lines: [(String?, Article)] = [
      (_inAll, .totals), (_ofMain, .frames), (_inOnePiece, .frames), (_ofScreens, .screens),
      (_recommendation.sentence, .designs),
    ]
    return lines.compactMap { sentence, article in sentence.map { ($0, article) } }
      + _advice.map { ($0.sentence, Article($0)) } + _replay.sentences.map { ($0, .replays) }
  }

  /// The articles of the documentation that say more, in words; nil without a sentence.
  var reading: String? {
    var documents: [String] = []
    for (_, article) in lines where !documents.contains(article.document) {
      documents.append(article.document)
    }
    return documents.isEmpty
      ? nil : "The documentation says more: " + documents.map { "'\($0)'" }.joined(separator: ", ") + "."
  }

  private var _inAll: String? {
    guard _stacks.count > 1 else { return nil }
    let sorted = _stacks.sorted { $0.totalSeconds < $1.totalSeconds }
    let (first, last) = (sorted[0], sorted[sorted.count - 1])
    let fastest = sorted.filter { $0.totalSeconds <= first.totalSeconds * Self._noise }
    let names = _names(fastest)
    if fastest.count == sorted.count {
      return "All took about \(Figures.seconds(first.totalSeconds)) s in all."
    }
    return "Fastest in all: \(names), about \(Figures.seconds(first.totalSeconds)) s; "
      + "\(last.design.rawValue) took \(Figures.ratio(last.totalSeconds / first.totalSeconds)) times as long."
  }

  private var _ofMain: String? {
    guard _stacks.count > 1 else { return nil }
    let sorted = _stacks.sorted { $0.mainBusySeconds < $1.mainBusySeconds }
    let first = sorted[0]
    let lightest = sorted.filter { $0.mainBusySeconds <= first.mainBusySeconds * Self._noise }
    return "Least work for the main thread: \(_names(lightest)), \(Figures.seconds(first.mainBusySeconds)) s."
  }

  private var _inOnePiece: String? {
    let frame = ShootoutResult.frameMilliseconds
    let smooth = _stacks.filter { $0.mainLongestMilliseconds <= frame }
    let rough = _stacks.filter { $0.mainLongestMilliseconds > frame }
    let limit = "a frame (\(Figures.milliseconds(frame)) ms)"
    if rough.isEmpty { return "None blocked main for \(limit) at once." }
    let blocks = rough.map {
      "\($0.design.rawValue) blocked it for \(Figures.milliseconds($0.mainLongestMilliseconds)) ms at once"
    }
    let sentence = _joined(blocks)
    return smooth.isEmpty
      ? "Beyond \(limit) of main: \(sentence)."
      : "Never blocked main for \(limit): \(_names(smooth)); \(sentence)."
  }

  /// How long screens wait for main because of an import.
  private var _ofScreens: String? {
    let delays = _stacks.compactMap { stack in stack.screenDelay.map { (stack, $0) } }
    guard delays.count > 1, let least = delays.map(\.1).min() else { return nil }
    let frame = ShootoutResult.frameMilliseconds
    let late = delays.filter { $0.1 > frame }
    guard !late.isEmpty else { return "Beside an import no screen waited for a frame longer than alone." }
    let words = late.map { "\($0.0.design.rawValue) by \(Figures.milliseconds($0.1)) ms" }
    return "An import delays screens by more than a frame in \(_joined(words))"
      + (least > frame ? "." : ", in the others it does not.")
  }

  private func _names(_ stacks: [ShootoutResult.Stack]) -> String { _joined(stacks.map(\.design.rawValue)) }

  private func _joined(_ words: [String]) -> String {
    guard words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + words[words.count - 1]
  }
}

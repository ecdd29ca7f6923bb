import Foundation
import Synchronization

/// Refuses to evaluate predicates from a compiled model until the program allows it.
///
/// They come from an archive, which may call selectors on whatever it is evaluated with. As in Core Data,
/// only `evaluate(with:)` asks: fetches and validation know their predicates by other ways.
final class EvaluationGate: Sendable {
  private let _isOpen = Atomic<Bool>(false)

  var isOpen: Bool { _isOpen.load(ordering: .acquiring) }

  func open() { _isOpen.store(true, ordering: .releasing) }

  /// Traps while the gate is closed, as Core Data raises.
  func check(_ predicate: NSPredicate) {
    if isOpen { return }
    programmerError(
      "NSInternalInconsistencyException: This predicate has evaluation disabled: it comes from a compiled model. Call "
        + "allowEvaluation() on it first if you trust the model. \(predicate.canonicalFormat)")
  }
}

/// A kind of predicate that can be held back.
protocol GatedPredicate: NSPredicate {
  /// Nil for predicates that are free to be evaluated. Set before the predicate is handed out.
  var gate: EvaluationGate? { get set }
}

extension NSComparisonPredicate: GatedPredicate {}
extension CompoundPredicate: GatedPredicate {}

/// The gates of one model, by the text of the predicate: a repeated request for a predicate finds
/// it allowed.
final class EvaluationGates: Sendable {
  private let _gates = Mutex<[String: EvaluationGate]>([:])

  /// Holds a predicate back.
  func hold(_ predicate: NSPredicate) {
    guard let gated = predicate as? any GatedPredicate else { return }
    let text = predicate.canonicalFormat
    gated.gate = _gates.withLock { gates in
      if let known = gates[text] { return known }
      let gate = EvaluationGate()
      gates[text] = gate
      return gate
    }
  }
}

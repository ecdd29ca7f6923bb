import Foundation
import Synchronization

/// Blocks the evaluation of predicates from a compiled model until the program allows it.
///
/// Such predicates come from an archive and may call selectors on the evaluated object. As in Core Data, only
/// `evaluate(with:)` checks the gate; fetches and validation do not.
final class EvaluationGate: Sendable {
  private let _isOpen = Atomic<Bool>(false)

  var isOpen: Bool { _isOpen.load(ordering: .acquiring) }

  func open() { _isOpen.store(true, ordering: .releasing) }

  /// Traps while the gate is closed, where Core Data raises.
  func check(_ predicate: NSPredicate) {
    if isOpen { return }
    programmerError(
      "NSInternalInconsistencyException: This predicate has evaluation disabled: it comes from a compiled model. Call "
        + "allowEvaluation() on it first if you trust the model. \(predicate.canonicalFormat)")
  }
}

/// A kind of predicate that can be gated.
protocol GatedPredicate: NSPredicate {
  /// Nil for predicates that may be evaluated. Set before the predicate is returned to the program.
  var gate: EvaluationGate? { get set }
}

extension NSComparisonPredicate: GatedPredicate {}
extension CompoundPredicate: GatedPredicate {}

/// The gates of one model by predicate text, so that allowing a predicate once suffices.
final class EvaluationGates: Sendable {
  private let _gates = Mutex<[String: EvaluationGate]>([:])

  /// Closes the gate of a predicate.
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

import CoreDataCTorture
import Foundation

/// Memory shared by the processes of a round: begun saves, acknowledged saves, and the call to hit. It
/// outlives a killed process.
package final class TrialPage {
  private let _page: UnsafeMutablePointer<torture_page>

  package init() throws {
    guard let page = torture_page_make() else { throw TortureFailure("no memory can be shared") }
    _page = page
  }

  package func clear() { torture_page_clear(_page) }

  // MARK: Saves

  package func begin(_ writer: Int, _ number: Int64) { torture_begin(_page, Int32(writer), number) }
  package func acknowledge(_ writer: Int, _ number: Int64) {
    torture_acknowledge(_page, Int32(writer), number)
  }

  /// Records a writer's saves from before the round.
  package func setSaved(_ writer: Int, _ number: Int64) {
    begin(writer, number)
    acknowledge(writer, number)
  }

  /// The numbers that a writer's last save may have: from the last acknowledged to the last begun.
  package func saves(of writer: Int) -> ClosedRange<Int64> {
    let acknowledged = torture_acknowledged(_page, Int32(writer))
    return acknowledged...max(acknowledged, torture_begun(_page, Int32(writer)))
  }

  // MARK: Calls

  /// The call to hit, and how.
  package struct Plan: Sendable {
    package var layer = torture_layer_system
    package var action = torture_count_changes
    /// Number of the call, from 1; 0 for none.
    package var at: Int64 = 0
    package var isTraced = false

    package init(
      layer: torture_layer = torture_layer_system, action: torture_action = torture_count_changes,
      at: Int64 = 0,
      isTraced: Bool = false
    ) {
      (self.layer, self.action, self.at, self.isTraced) = (layer, action, at, isTraced)
    }
  }

  /// From now on counts this process's calls on files below a directory, and hits the planned one.
  package func arm(_ plan: Plan, below directory: URL) {
    torture_set_prefix(_page, directory.path)
    _page.pointee.plan.layer = Int32(plan.layer.rawValue)
    _page.pointee.plan.action = Int32(plan.action.rawValue)
    _page.pointee.plan.at = plan.at
    _page.pointee.plan.is_traced = plan.isTraced ? 1 : 0
    torture_attach(_page)
    _page.pointee.plan.is_armed = 1
  }

  package func disarm() { _page.pointee.plan.is_armed = 0 }

  /// Number of calls that this action could have hit.
  package func callCount(_ action: torture_action) -> Int64 {
    torture_call_count(_page, Int32(action.rawValue))
  }
  /// Number of calls that were hit.
  package var hitCount: Int64 { _page.pointee.plan.hits }
  /// The first call that was hit, in words.
  package var call: String { String(cString: torture_call(_page)) }

  // MARK: Words between processes

  /// The message of a child at its end.
  package var words: String {
    get { String(cString: torture_words(_page)) }
    set { torture_set_words(_page, newValue) }
  }

  /// Duration of the round's work, in microseconds.
  package var microseconds: Int64 {
    get { _page.pointee.microseconds }
    set { _page.pointee.microseconds = newValue }
  }

  /// Number of errors in a child.
  package var failureCount: Int {
    get { Int(_page.pointee.failure_count) }
    set { _page.pointee.failure_count = Int32(newValue) }
  }

  /// Waits until the parent starts all children at once.
  package func waitForStart() {
    torture_wait_for_start(_page)
  }

  /// Starts the waiting children once there are `count` of them.
  package func start(_ count: Int) { torture_start(_page, Int32(count)) }
}

/// The failure of a trial, in words.
package struct TortureFailure: Error, Sendable, CustomStringConvertible {
  package let description: String
  package init(_ words: String) { description = words }
}

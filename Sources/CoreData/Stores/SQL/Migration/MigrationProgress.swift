import Foundation

/// Reports the progress of a migration to `Progress.current()` of the thread that adds the store, if any.
///
/// After a cancellation the migration ends at the next step with `CocoaError.userCancelled`, inside the
/// transaction, which rolls everything back.
package struct MigrationProgress {
  private let _progress: Progress
  private let _whole: Progress?
  private static let _rowsAtOnce: Int64 = 20_000
  /// Limits the number of slices, since keys in a damaged file may be of any size.
  private static let _mostSlices: Int64 = 64

  /// - Parameter steps: The number of `advance()` calls to come.
  package init(steps: Int) {
    _whole = Progress.current()
    _progress = Progress(totalUnitCount: Int64(steps))
  }

  /// Call after each step.
  ///
  /// - Throws: `CocoaError.userCancelled`.
  package func advance() throws {
    _progress.completedUnitCount += 1
    if _progress.isCancelled || _whole?.isCancelled == true { throw CocoaError(.userCancelled) }
  }

  /// Splits a table's key range into slices that are copied one by one; returns conditions on the key column.
  package static func slices(of column: String, largestKey: Int64) -> [String] {
    let count = min(_mostSlices, max(0, largestKey) / _rowsAtOnce + 1)
    guard count > 1 else { return ["1 = 1"] }
    let size = largestKey / count
    return (0..<count).map { number in
      switch number {
      case 0: "\(column) <= \(size)"
      case count - 1: "\(column) > \(number * size)"
      default: "\(column) > \(number * size) AND \(column) <= \((number + 1) * size)"
      }
    }
  }
}

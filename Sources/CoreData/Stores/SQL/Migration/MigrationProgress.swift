import Foundation

/// How far a migration has come, told to `Progress.current()` of the thread that adds the store, if there is
/// one.
///
/// When it is cancelled the migration ends at the next step with `CocoaError.userCancelled`, inside the
/// transaction, which takes everything back.
package struct MigrationProgress {
  private let _progress: Progress
  private let _whole: Progress?
  private static let _rowsAtOnce: Int64 = 20_000
  /// Keys in a damaged file may be of any size; the number of slices is bounded all the same.
  private static let _mostSlices: Int64 = 64

  /// - Parameter steps: How often `advance()` will be called.
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

  /// Cuts the keys of a table into slices that are copied one after the other: conditions on its key column.
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

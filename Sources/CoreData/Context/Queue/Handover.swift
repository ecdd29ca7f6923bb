/// Carries a block's result from the queue that ran it to the one waiting caller.
struct Handover<T>: @unchecked Sendable {
  // Unchecked: created on the queue, which no longer uses it, and read by the waiting task only.
  let value: T
}

extension Result {
  /// Captures what a block returns or throws.
  static func of(_ block: () throws(Failure) -> Success) -> Result {
    do throws(Failure) {
      return .success(try block())
    } catch {
      return .failure(error)
    }
  }
}

/// What a block returned, on its way from the queue that ran it to the one caller waiting for it.
struct Handover<T>: @unchecked Sendable {
  // Unchecked: made on the queue, which is done with it, and read by the waiting task only.
  let value: T
}

extension Result {
  /// What a block returns or throws.
  static func of(_ block: () throws(Failure) -> Success) -> Result {
    do throws(Failure) {
      return .success(try block())
    } catch {
      return .failure(error)
    }
  }
}

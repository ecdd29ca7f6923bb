import CoreData

extension NSManagedObjectContext {
  /// Returns once the context has run what was queued before.
  func turn() async {
    let reference = SendableContext(context: self)
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      reference.context.perform { continuation.resume() }
    }
  }

  /// `performAndWait`, spelled alike for every version of Apple's SDK.
  func performAndWaitThrowing<Result>(_ body: () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>!
    withoutActuallyEscaping(body) { body in
      let block = { result = Swift.Result { try body() } }
      performAndWait(block)
    }
    return try result.get()
  }
}

private struct SendableContext: @unchecked Sendable {
  // Unchecked: only `perform` is called.
  let context: NSManagedObjectContext
}

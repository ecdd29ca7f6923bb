/// A block that a Task waits for, and the object on whose queue it runs. Lets both go before the Task continues: the queue
/// still holds the closure that resumes it.
final class AwaitedBlock<Owner: AnyObject, Success, Failure: Error>: @unchecked Sendable {
  // Unchecked: used by the closure that runs the block, once.
  private var _owner: Owner?
  private var _block: (() throws(Failure) -> Success)?

  init(_ owner: Owner, _ block: @escaping @Sendable () throws(Failure) -> Success) {
    _owner = owner
    _block = block
  }

  /// Runs the block and forgets it.
  ///
  /// - Parameter run: Runs the block for the owner.
  func run(
    _ run: (Owner, () throws(Failure) -> Success) -> Result<Success, Failure>
  ) -> Handover<Result<Success, Failure>> {
    let result = _run(run)
    _block = nil
    _owner = nil
    return Handover(value: result)
  }

  // Not inlined: the frame's own references end with it.
  @inline(never)
  private func _run(
    _ run: (Owner, () throws(Failure) -> Success) -> Result<Success, Failure>
  ) -> Result<Success, Failure> {
    run(_owner.unsafelyUnwrapped, _block.unsafelyUnwrapped)
  }
}

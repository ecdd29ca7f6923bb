/// Transfers a value from its sender to one other queue.
struct Handover<Value>: @unchecked Sendable {
  // Unchecked: the sender no longer uses the value; the one receiver uses it on its own queue.
  let value: Value
}

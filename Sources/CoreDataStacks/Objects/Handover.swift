/// Something handed to one other queue by somebody who is done with it.
struct Handover<Value>: @unchecked Sendable {
  // Unchecked: whoever makes one lets go of the value; the one receiver uses it on its own queue.
  let value: Value
}

/// The reads that have failed in a context since it was last rolled back or reset.
struct ReadFailures {
  /// The number of failed reads.
  private(set) var count = 0
  /// The first error.
  private(set) var first: (any Error)?
  /// The first error that is not due to damage of one object: the context has shown empty values of objects
  /// whose own values may be in order, and throws it from now on.
  private(set) var lasting: (any Error)?
  /// Faults that stand for the targets of required to-ones of objects that cannot be read, by entity number.
  private(set) var placeholders: [Int: NSManagedObject] = [:]

  mutating func record(_ error: any Error, isDamage: Bool) {
    count += 1
    if first == nil { first = error }
    if !isDamage, lasting == nil { lasting = error }
  }

  /// Forgets the errors. The faults that stand for unknown targets remain: the program may hold them.
  mutating func clear() { (first, lasting) = (nil, nil) }

  /// Forgets the errors and the faults.
  mutating func reset() {
    clear()
    placeholders = [:]
  }

  mutating func keep(_ placeholder: NSManagedObject) {
    placeholders[placeholder._layout.entityNumber] = placeholder
  }

  /// Whether an object stands for a target that is unknown.
  func isStandIn(_ object: NSManagedObject) -> Bool {
    !placeholders.isEmpty && placeholders[object._layout.entityNumber] === object
  }
}

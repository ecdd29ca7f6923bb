import Foundation

// Setters are inlined into the program's accessors and call these functions, which borrow the object and the value.
// The parameters of a setter that is not inlined are retained for each call.

extension ManagedKey {
  @usableFromInline func setInteger(_ integer: Int64, _ object: NSManagedObject) {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return object.setValueOfProperty(integer, name) }
    object.write(integer: integer, at: slot)
  }

  @usableFromInline func setBool(_ isTrue: Bool, _ object: NSManagedObject) {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return object.setValueOfProperty(isTrue, name) }
    object.write(integer: isTrue ? 1 : 0, at: slot)
  }

  @usableFromInline func setFloat(_ number: Float, _ object: NSManagedObject) {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return object.setValueOfProperty(number, name) }
    object.write(double: Double(number), at: slot)
  }

  @usableFromInline func setText(_ text: String?, _ object: NSManagedObject) {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return object.setValueOfProperty(text, name) }
    object.write(text: text, at: slot)
  }

  @usableFromInline func setDate(_ date: Date?, _ object: NSManagedObject) {
    let slot = slot(in: object)
    guard slot != Self.indirect else { return object.setValueOfProperty(date, name) }
    guard let date else { return object.write(.null, at: slot) }
    object.write(double: date.timeIntervalSinceReferenceDate, at: slot)
  }

  /// Writes a cell, or `value` by key if the property has another type in the model.
  @inline(__always) func write(
    _ cell: @autoclosure () -> CoreData.Value, _ value: @autoclosure () -> Any?, _ object: NSManagedObject
  ) {
    let slot = slot(in: object)
    if slot != Self.indirect {
      object.write(cell(), at: slot)
    } else {
      object.setValueOfProperty(value(), name)
    }
  }
}

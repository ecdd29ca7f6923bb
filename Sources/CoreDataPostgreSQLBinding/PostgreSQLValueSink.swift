/// Receives the values of rows in order: the array of one column, or rows for COPY.
package protocol PostgreSQLValueSink {
  /// The type of the next value, as an array type.
  var type: PostgreSQLType { get }
  /// Adds a NULL.
  mutating func addNull()
  /// Adds an integer, in the type's width.
  mutating func add(_ value: Int64)
  /// Adds a floating-point number.
  mutating func add(_ value: Double)
  /// Adds a text.
  mutating func add(_ value: String)
  /// Adds bytes, or a UUID.
  mutating func add(bytes: UnsafeRawBufferPointer)
  /// Adds a decimal number, given as text.
  mutating func add(numeric value: String)
}

/// What takes the values of rows one after the other: the array of one column, or rows for COPY.
package protocol PostgreSQLValueSink {
  /// The type of the next value, as an array of such values has it.
  var type: PostgreSQLType { get }
  /// Adds a NULL.
  mutating func addNull()
  /// Adds a whole number, in the type's width.
  mutating func add(_ value: Int64)
  /// Adds a number in the form of a double.
  mutating func add(_ value: Double)
  /// Adds a text.
  mutating func add(_ value: String)
  /// Adds bytes, or a UUID.
  mutating func add(bytes: some Collection<UInt8>)
  /// Adds a decimal number, given as its text.
  mutating func add(numeric value: String)
}

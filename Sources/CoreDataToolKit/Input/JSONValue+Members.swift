extension JSONValue {
  /// The members of the object that fills `bytes`.
  ///
  /// - Parameter place: Its location, for messages: `books.ndjson:17`.
  /// - Throws: `ToolFailure` with `badInput` for anything else.
  package static func members(parsing bytes: [UInt8], at place: String) throws(ToolFailure) -> [Member] {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: bytes)
    } catch {
      throw ToolFailure(.badInput, "\(place): \(error).")
    }
    guard case .object(let members) = value else {
      throw ToolFailure(.badInput, "\(place): an object was expected, not \(value.kind).")
    }
    return members
  }
}

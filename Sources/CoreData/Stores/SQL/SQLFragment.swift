/// A piece of SQL as a value: text with question marks, and what each of them stands for.
///
/// Pieces are put together by interpolation: `"\(left) = \(right)"` joins the texts and the parameters. A
/// plain string is text only if spelled `\(sql: ...)`, so that no value slips into a statement by accident.
package struct SQLFragment: Sendable, Hashable, ExpressibleByStringInterpolation {
  package private(set) var text: String
  package private(set) var parameters: [QueryParameter]

  package init(text: String, parameters: [QueryParameter] = []) {
    self.text = text
    self.parameters = parameters
  }

  package init(stringLiteral value: String) { self.init(text: value) }

  package init(stringInterpolation: StringInterpolation) {
    self.init(text: stringInterpolation.text, parameters: stringInterpolation.parameters)
  }

  /// `?` for a parameter.
  package init(_ parameter: QueryParameter) { self.init(text: "?", parameters: [parameter]) }

  package struct StringInterpolation: StringInterpolationProtocol {
    package var text = ""
    package var parameters: [QueryParameter] = []

    package init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16) }

    package mutating func appendLiteral(_ literal: String) { text += literal }

    package mutating func appendInterpolation(_ fragment: SQLFragment) {
      text += fragment.text
      parameters += fragment.parameters
    }

    package mutating func appendInterpolation(_ parameter: QueryParameter) {
      text += "?"
      parameters.append(parameter)
    }

    /// Text that is SQL: names of tables and columns, operators.
    package mutating func appendInterpolation(sql: String) { text += sql }
  }

  /// Conditions joined by AND or OR. A long list becomes a balanced tree, since databases limit how deep an
  /// expression may be nested and reads a chain as one level per link.
  package static func joined(_ members: [SQLFragment], by operation: String) -> SQLFragment {
    if members.count <= 64 {
      var result = members[0]
      for member in members.dropFirst() { result = "\(result) \(sql: operation) \(member)" }
      return result
    }
    let middle = members.count / 2
    let left = joined(Array(members[..<middle]), by: operation)
    let right = joined(Array(members[middle...]), by: operation)
    return "(\(left)) \(sql: operation) (\(right))"
  }

  /// Fragments with commas between.
  package static func list(_ members: [SQLFragment]) -> SQLFragment {
    guard var result = members.first else { return "" }
    for member in members.dropFirst() { result = "\(result), \(member)" }
    return result
  }
}

/// What a `?` is bound to when the statement runs.
package enum QueryParameter: Sendable, Hashable {
  /// A constant of the predicate, by its place from left to right.
  case constant(Int, ConstantConversion)
  /// Several constants of the predicate as one list, for a list of values.
  case constants([Int], ConstantConversion)
  /// The moment of the fetch, in seconds since 2001-01-01 00:00 UTC.
  case now
  case limit
  case offset
}

/// How a constant becomes the value bound for it.
package indirect enum ConstantConversion: Sendable, Hashable {
  /// As its own type says.
  case natural
  /// Text of a UUID becomes its bytes.
  case uuid
  /// A value becomes the bytes that a transformable attribute stores for it.
  case transformed(entity: Int, slot: Int)
  /// An object or ID becomes its primary key if it lives in the table of this root entity of the store.
  case key(root: Int)
  /// An entity description, or an entity's name, becomes its stored number.
  case entity
  /// The first text that does not begin with this one.
  case endOfPrefix
  /// A text as the pattern of a test with these options, in the database's own form.
  case pattern(StringOperation, options: UInt8)
  /// A member of a collection.
  case member(Int, ConstantConversion)
  /// All members of a collection, for a list of values.
  case members(ConstantConversion)
}

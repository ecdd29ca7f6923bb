/// A piece of SQL: text with question marks, and their parameters.
///
/// Fragments are combined by interpolation: `"\(left) = \(right)"` joins the texts and the parameters. A
/// plain string must be interpolated as `\(sql: ...)`, so that values cannot be inserted as text by accident.
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

    /// Appends SQL text: names of tables and columns, operators.
    package mutating func appendInterpolation(sql: String) { text += sql }
  }

  /// Joins conditions by AND or OR. A long list becomes a balanced tree, since databases limit the nesting
  /// depth of expressions and parse a chain as one level per link.
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

  /// Joins fragments by commas.
  package static func list(_ members: [SQLFragment]) -> SQLFragment {
    guard var result = members.first else { return "" }
    for member in members.dropFirst() { result = "\(result), \(member)" }
    return result
  }
}

/// The value bound to a `?` when the statement runs.
package enum QueryParameter: Sendable, Hashable {
  /// A constant of the predicate, by its position from left to right.
  case constant(Int, ConstantConversion)
  /// Several constants of the predicate, bound as one list.
  case constants([Int], ConstantConversion)
  /// The time of the fetch, in seconds since 2001-01-01 00:00 UTC.
  case now
  case limit
  case offset
}

/// The conversion of a constant to its bound value.
package indirect enum ConstantConversion: Sendable, Hashable {
  /// By the constant's own type.
  case natural
  /// UUID text to bytes.
  case uuid
  /// A value to the encoded bytes of a transformable attribute.
  case transformed(entity: Int, slot: Int)
  /// An object or ID to its primary key, if it is in the table of this root entity of the store.
  case key(root: Int)
  /// An entity description or an entity name to its stored number.
  case entity
  /// The first text beyond this prefix.
  case endOfPrefix
  /// A text to the pattern of a test with these options, in the database's own syntax.
  case pattern(StringOperation, options: UInt8)
  /// A member of a collection.
  case member(Int, ConstantConversion)
  /// All members of a collection, bound as one list.
  case members(ConstantConversion)
}

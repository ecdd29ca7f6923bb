import CoreData
import CoreDataPostgreSQLBinding
import CoreDataPredicateLanguage
import Foundation

/// A fetch for PostgreSQL: text with numbered parameters, and how each of them is bound.
struct PostgreSQLQuery: Sendable {
  let sql: String
  let parameters: [(parameter: QueryParameter, type: PostgreSQLType)]
  /// Reads the selected columns; nil for a count.
  let reader: PostgreSQLRowReader?

  /// Numbers the parameters of a compiled query.
  ///
  /// - Parameters:
  ///   - constants: The constants that it was compiled with; their kinds decide the parameters' types.
  ///   - offset: Number of preceding parameters in the enclosing statement.
  init(
    _ fragment: SQLFragment, _ constants: [PredicateValue], reader: PostgreSQLRowReader?, from offset: Int = 0
  ) {
    let pieces = ParameterPlaces.pieces(of: fragment.text)
    precondition(pieces.count == fragment.parameters.count + 1, "each question mark is a parameter")
    var sql = String(pieces[0])
    var parameters: [(QueryParameter, PostgreSQLType)] = []
    for (parameter, piece) in zip(fragment.parameters, pieces.dropFirst()) {
      var rest = piece
      var kind: UInt8?
      if piece.utf8.first == UInt8(ascii: "{") {
        kind = piece.utf8.dropFirst().first
        rest = piece.dropFirst(3)
      }
      let type = Self._type(of: parameter, constants, list: kind)
      parameters.append((parameter, type))
      sql += "$\(offset + parameters.count)::\(type.name)\(rest)"
    }
    self.sql = sql
    self.parameters = parameters
    self.reader = reader
  }

  private static func _type(
    of parameter: QueryParameter, _ constants: [PredicateValue], list: UInt8?
  ) -> PostgreSQLType {
    switch parameter {
    case .now: .float8
    case .limit, .offset: .int8
    case .constant(let index, let conversion): _type(of: constants[index], conversion, list)
    case .constants(let indices, let conversion):
      _type(of: .collection(indices.map { constants[$0] }), .members(conversion), list)
    }
  }

  private static func _type(
    of value: PredicateValue, _ conversion: ConstantConversion, _ list: UInt8?
  ) -> PostgreSQLType {
    switch conversion {
    case .natural: return _type(of: value)
    case .uuid:
      switch value {
      case .string, .uuid: return .uuid
      default: return _type(of: value)
      }
    case .transformed: return .bytes
    case .key, .entity: return .int8
    case .endOfPrefix, .pattern: return .text
    case .member(let index, let conversion):
      guard case .collection(let members) = value, index < members.count else { return .text }
      return _type(of: members[index], conversion, list)
    case .members(let conversion):
      switch conversion {
      case .key, .entity: return .int8Array
      case .uuid: return .uuidArray
      case .transformed: return .bytesArray
      default: break
      }
      switch list {
      case UInt8(ascii: "n"): return numbers(in: PostgreSQLBinder.members(of: value))
      case UInt8(ascii: "u"): return .uuidArray
      case UInt8(ascii: "b"): return .bytesArray
      case UInt8(ascii: "o"): return .int8Array
      default: return .textArray
      }
    }
  }

  private static func _type(of value: PredicateValue) -> PostgreSQLType {
    switch value {
    case .int, .bool, .object: .int8
    case .double, .date: .float8
    case .decimal: .numeric
    case .uuid: .uuid
    case .data: .bytes
    case .null, .string, .url, .collection, .dictionary: .text
    }
  }

  /// Returns the narrowest array type for all numbers of a collection; only an integer array can use an
  /// index.
  static func numbers(in members: [PredicateValue]) -> PostgreSQLType {
    var type = PostgreSQLType.int8Array
    for member in members {
      switch member {
      case .double, .date: if type == .int8Array { type = .float8Array }
      case .decimal: type = .numericArray
      default: break
      }
    }
    return type
  }
}

extension PostgreSQLType {
  /// The type's name in a cast.
  var name: String {
    switch self {
    case .bool: "bool"
    case .bytes: "bytea"
    case .int8: "int8"
    case .int2: "int2"
    case .int4: "int4"
    case .text: "text"
    case .float8: "float8"
    case .numeric: "numeric"
    case .uuid: "uuid"
    case .boolArray: "bool[]"
    case .bytesArray: "bytea[]"
    case .int2Array: "int2[]"
    case .int4Array: "int4[]"
    case .textArray: "text[]"
    case .int8Array: "int8[]"
    case .float8Array: "float8[]"
    case .numericArray: "numeric[]"
    case .uuidArray: "uuid[]"
    }
  }
}

/// Cache key of queries: plans of one shape whose collections contain the same kinds of numbers.
struct PostgreSQLQueryKey: Hashable, Sendable {
  let shape: QueryShape
  /// Types of the constant collections; empty for nearly every query.
  let lists: [UInt32]

  init(_ shape: QueryShape, _ constants: [PredicateValue]) {
    self.shape = shape
    lists = Self.lists(in: constants)
  }

  /// Returns the types of the constants that are collections.
  static func lists(in constants: [PredicateValue]) -> [UInt32] {
    var lists: [UInt32] = []
    for constant in constants {
      switch constant {
      case .collection, .dictionary:
        lists.append(PostgreSQLQuery.numbers(in: PostgreSQLBinder.members(of: constant)).rawValue)
      default: break
      }
    }
    return lists
  }
}

import Foundation

/// A predicate without the values of its constants: the cache key of translated SQL.
///
/// Two trees have the same shape if they differ only in the values of constants. Everything that affects the
/// SQL is part of the shape: whether a constant is null, its kind, whether a text is empty, the size of a
/// collection as far as zero, one, two, three or more and the kinds of the first two elements, the type of a CAST,
/// an object's tag. Names of keys, variables, functions, operators and options are part of it.
package struct PredicateShape: Hashable, Sendable {
  /// The tree in prefix order as bytes. Every name and list includes its length, so different trees yield
  /// different bytes.
  fileprivate var signature: [UInt8] = []

  /// A number for an object constant, which differs if another object requires other SQL, such as another
  /// table.
  package typealias Tag = (PredicateObject) -> UInt32

  /// Splits `tree` into its shape and its constants in the order of `PredicateTree.constants`: left to right,
  /// a collection counts as one, including the type name of a CAST.
  package static func taking(
    _ tree: PredicateTree, tag: @escaping Tag = { _ in 0 }
  ) -> (shape: PredicateShape, constants: [PredicateValue]) {
    var builder = ShapeBuilder(tag: tag)
    builder.add(tree)
    return (builder.shape, builder.constants)
  }

  /// Splits an expression into its shape and its constants.
  package static func taking(
    _ tree: ExpressionTree, tag: @escaping Tag = { _ in 0 }
  ) -> (shape: PredicateShape, constants: [PredicateValue]) {
    var builder = ShapeBuilder(tag: tag)
    builder.add(tree)
    return (builder.shape, builder.constants)
  }

  /// Returns the shape of a single value; nil if that is more than its kind.
  package static func kind(of value: PredicateValue) -> UInt8? {
    switch value {
    case .null: 64
    case .bool: 65
    case .int: 66
    case .double: 67
    case .decimal: 68
    case .string(let text): text.isEmpty ? 77 : 69
    case .date: 70
    case .data: 71
    case .uuid: 72
    case .url: 73
    case .object, .collection, .dictionary: nil
    }
  }

  package func hash(into hasher: inout Hasher) {
    signature.withUnsafeBytes { hasher.combine(bytes: $0) }
  }
}

/// Writes the shape of a tree in one pass.
private struct ShapeBuilder {
  let tag: PredicateShape.Tag
  var shape = PredicateShape()
  var constants: [PredicateValue] = []

  init(tag: @escaping PredicateShape.Tag) {
    self.tag = tag
    shape.signature.reserveCapacity(64)
    constants.reserveCapacity(4)
  }

  // MARK: Bytes

  private mutating func _byte(_ byte: UInt8) { shape.signature.append(byte) }

  private mutating func _count(_ count: Int) {
    var rest = UInt(count)
    while rest >= 0x80 {
      _byte(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    _byte(UInt8(rest))
  }

  private mutating func _name(_ name: String) {
    _count(name.utf8.count)
    shape.signature.append(contentsOf: name.utf8)
  }

  private mutating func _path(_ path: [String]) {
    _count(path.count)
    for component in path { _name(component) }
  }

  // MARK: Trees

  mutating func add(_ tree: PredicateTree) {
    switch tree {
    case .constant(let value): _byte(value ? 1 : 2)
    case .not(let operand):
      _byte(3)
      add(operand)
    case .and(let members):
      _byte(4)
      _add(members)
    case .or(let members):
      _byte(5)
      _add(members)
    case .comparison(let comparison):
      _byte(6)
      _byte(UInt8(comparison.op.rawValue))
      _byte(UInt8(comparison.modifier.rawValue))
      _byte(UInt8(truncatingIfNeeded: comparison.options.rawValue))
      if comparison.op == .customSelector { _name(comparison.selector ?? "") }
      add(comparison.left)
      add(comparison.right)
    case .block(let block):
      _byte(7)
      _identity(of: block)
    }
  }

  private mutating func _add(_ members: [PredicateTree]) {
    _count(members.count)
    for member in members { add(member) }
  }

  private mutating func _add(_ parts: [ExpressionTree]) {
    _count(parts.count)
    for part in parts { add(part) }
  }

  mutating func add(_ tree: ExpressionTree) {
    switch tree {
    case .constant(let value):
      _byte(16)
      _kind(of: value)
      constants.append(value)
    case .evaluatedObject: _byte(17)
    case .variable(let name):
      _byte(18)
      _name(name)
    case .keyPath(let path):
      _byte(19)
      _path(path)
    case .keyPathOf(let base, let path):
      _byte(20)
      add(base)
      _path(path)
    case .function(let function, let arguments):
      _byte(21)
      _name(function.rawValue)
      _add(arguments)
      if function == .cast, case .constant(.string(let type))? = arguments.last { _name(type) }
    case .customFunction(let target, let selector, let arguments):
      _byte(22)
      add(target)
      _name(selector)
      _add(arguments)
    case .subquery(let collection, let variable, let predicate):
      _byte(23)
      add(collection)
      _name(variable)
      add(predicate)
    case .aggregate(let elements):
      _byte(24)
      _add(elements)
    case .set(let op, let left, let right):
      _byte(op == .union ? 25 : op == .intersect ? 26 : 27)
      add(left)
      add(right)
    case .conditional(let predicate, let then, let otherwise):
      _byte(28)
      add(predicate)
      add(then)
      add(otherwise)
    case .assignment(let name, let value):
      _byte(29)
      _name(name)
      add(value)
    case .anyKey: _byte(30)
    case .block(let block, let arguments):
      _byte(31)
      _identity(of: block)
      _add(arguments)
    }
  }

  // MARK: Constants

  private mutating func _kind(of value: PredicateValue) {
    if let kind = PredicateShape.kind(of: value) { return _byte(kind) }
    switch value {
    case .object(let object):
      _byte(74)
      _count(Int(tag(object)))
    case .collection(let elements):
      _byte(75)
      _kinds(of: elements)
    case .dictionary(let entries):
      _byte(76)
      _kinds(of: entries.count < 3 ? entries.sorted { $0.key < $1.key }.map(\.value) : Array(entries.values))
    default: break
    }
  }

  /// All collections of three or more elements have the same shape: one statement serves any number of
  /// elements of any kinds.
  private mutating func _kinds(of elements: [PredicateValue]) {
    _byte(UInt8(min(elements.count, 3)))
    if elements.count < 3 { for element in elements { _kind(of: element) } }
  }

  /// Closures are equal only if they are the same object.
  private mutating func _identity(of block: PredicateObject) {
    withUnsafeBytes(of: block.hashValue) { shape.signature.append(contentsOf: $0) }
    constants.append(.object(block))
  }
}

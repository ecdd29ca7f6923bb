import CoreData
import Synchronization

/// Caches the predicates used by a container's contexts by shape: predicates that differ only in captured
/// values are translated once.
///
/// Any thread.
final class PredicateShapes: Sendable {
  /// Translations of one expression type, by the key paths and operators that the type leaves open.
  private final class Known {
    let layout: ExpressionLayout
    /// Used only while the lock is held.
    @exclusivity(unchecked) var entries:
      [(key: ExpressionLayout.ShapeKey, template: TypedPredicateTemplate)] =
        []

    init(_ layout: ExpressionLayout) { self.layout = layout }
  }

  /// Maximum numbers of cached translations per type, and of types.
  private static let _limits = (entries: 16, types: 1024)

  private let _known = Mutex<[ObjectIdentifier: Known?]>([:])

  /// Translates the predicate for the engine.
  ///
  /// - Throws: `PredicateTranslationError` for one without a form that a store can evaluate.
  func translate<T: PersistentModel>(
    _ predicate: Predicate<T>, _ context: ModelContext
  ) throws -> NSPredicate {
    try translate(predicate.expression, predicate.variable.key, context)
      ?? NSPredicate.translating(predicate, in: ModelVocabulary(context: context))
  }

  /// Translates the condition of a predicate for the engine, regardless of the class of its variable; nil if
  /// its shape isn't cached.
  ///
  /// - Throws: `PredicateTranslationError` for one without a form that a store can evaluate.
  func translate(
    _ condition: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID,
    _ context: ModelContext
  ) throws -> NSPredicate? {
    func open<Expression: PredicateExpression>(_ expression: Expression) throws -> NSPredicate? {
      try _translate(expression, variable, context)
    }
    return try open(condition)
  }

  private func _translate<Expression: PredicateExpression>(
    _ expression: Expression, _ variable: PredicateExpressions.VariableID, _ context: ModelContext
  ) throws -> NSPredicate? {
    let type = ObjectIdentifier(Expression.self)
    return try withUnsafeBytes(of: expression) { bytes in
      guard let address = bytes.baseAddress else { return nil }
      if let found = _find(type, address) { return found.predicate(reading: address) }
      guard let layout = _layout(type, Expression.self), let key = layout.key(address) else { return nil }
      guard
        let template = try TypedPredicateTemplate(
          of: expression, variable, layout.captures, in: ModelVocabulary(context: context))
      else { return nil }
      _enter(type, key, template)
      return template.predicate(reading: address)
    }
  }

  private func _find(_ type: ObjectIdentifier, _ address: UnsafeRawPointer) -> TypedPredicateTemplate? {
    _known.withLock { known in
      guard let found = known[type] ?? nil else { return nil }
      for entry in found.entries where found.layout.fits(entry.key, address) { return entry.template }
      return nil
    }
  }

  private func _layout(_ type: ObjectIdentifier, _ expression: Any.Type) -> ExpressionLayout? {
    let known = _known.withLock { $0[type] }
    if let known { return known?.layout }
    let layout = ExpressionLayout(expression)
    _known.withLock {
      if $0[type] == nil, $0.count < Self._limits.types { $0[type] = layout.map { Known($0) } }
    }
    return layout
  }

  private func _enter(
    _ type: ObjectIdentifier, _ key: ExpressionLayout.ShapeKey, _ template: TypedPredicateTemplate
  ) {
    _known.withLock { known in
      guard let found = known[type] ?? nil, found.entries.count < Self._limits.entries else { return }
      found.entries.append((key, template))
    }
  }
}

/// The memory layout of an expression's parts that its type leaves open: key paths, operators, variables and
/// captured values.
struct ExpressionLayout: @unchecked Sendable {
  // Unchecked: nothing is written after the initializer.

  /// Captured values.
  private(set) var captures: [(offset: Int, kind: TypedPredicateTemplate.Capture)] = []
  private var _keyPaths: [Int] = []
  private var _bytes: [Int] = []
  private var _variables: [Int] = []

  /// The values of the open parts, except captured values.
  struct ShapeKey: @unchecked Sendable {
    // Unchecked: key paths are immutable, but not marked Sendable.

    fileprivate let keyPaths: [AnyObject]
    fileprivate let bytes: [UInt8]
    /// Indicates which variables are the same.
    fileprivate let variables: [Int]
  }

  /// Nil for a type with other kinds of parts.
  init?(_ expression: Any.Type) {
    guard _scan(expression, 0, depth: 0), captures.count <= 200 else { return nil }
  }

  private mutating func _scan(_ type: Any.Type, _ offset: Int, depth: Int) -> Bool {
    guard depth < 100 else { return false }
    if type is AnyKeyPath.Type {
      _keyPaths.append(offset)
      return true
    }
    if type == PredicateExpressions.VariableID.self {
      guard MemoryLayout<PredicateExpressions.VariableID>.size == 8 else { return false }
      _variables.append(offset)
      return true
    }
    if TypeReflection.kind(of: type) == .enumeration {
      // An operator.
      func size<Part>(_ part: Part.Type) -> Int { MemoryLayout<Part>.size }
      guard TypeReflection.cases(of: type)?.contains(where: \.hasPayload) == false,
        _openExistential(type, do: size) == 1
      else { return false }
      _bytes.append(offset)
      return true
    }
    guard type is any PredicateExpression.Type, let fields = TypeReflection.fields(of: type) else {
      return false
    }
    if let captured = type as? any CapturedValue.Type {
      if captured.valueType == Bool.self {
        _bytes.append(offset)
        return true
      }
      guard let capture = TypedPredicateTemplate.Capture(captured.valueType) else { return false }
      captures.append((offset, capture))
      return true
    }
    return fields.allSatisfy { _scan($0.type, offset + $0.offset, depth: depth + 1) }
  }

  /// Reads the open parts of an expression at an address; nil if a key path is missing there.
  func key(_ address: UnsafeRawPointer) -> ShapeKey? {
    ShapeKey(
      keyPaths: _keyPaths.map { (address + $0).load(as: AnyObject.self) },
      bytes: _bytes.map { (address + $0).load(as: UInt8.self) }, variables: _pattern(address))
  }

  /// Whether an expression at an address has the same open parts.
  func fits(_ key: ShapeKey, _ address: UnsafeRawPointer) -> Bool {
    for (index, offset) in _keyPaths.enumerated()
    where (address + offset).load(as: UInt.self)
      != UInt(bitPattern: Unmanaged.passUnretained(key.keyPaths[index]).toOpaque())
    {
      return false
    }
    for (index, offset) in _bytes.enumerated()
    where (address + offset).load(as: UInt8.self) != key.bytes[index] {
      return false
    }
    return _variables.count < 2 || _pattern(address) == key.variables
  }

  private func _pattern(_ address: UnsafeRawPointer) -> [Int] {
    let ids = _variables.map { (address + $0).loadUnaligned(as: UInt.self) }
    return ids.map { id in ids.firstIndex(of: id) ?? 0 }
  }
}

/// A part of an expression with a captured or literal value.
private protocol CapturedValue {
  static var valueType: Any.Type { get }
}

extension PredicateExpressions.Value: CapturedValue {
  fileprivate static var valueType: Any.Type { Output.self }
}

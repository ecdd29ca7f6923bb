import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The source of stored objects while dictionaries are computed in memory. For one fetch on one thread.
final class StoredObjectSource: StoredValues {
  let fetch: (FetchPlan) throws -> [StoredObject]
  private let _rows: ([ObjectKey]) throws -> [Row?]
  private let _related: (ObjectKey, Int) throws -> [ObjectKey]
  private var _known: [ObjectKey: Row?] = [:]

  init(
    fetch: @escaping (FetchPlan) throws -> [StoredObject], rows: @escaping ([ObjectKey]) throws -> [Row?],
    related: @escaping (ObjectKey, Int) throws -> [ObjectKey]
  ) {
    self.fetch = fetch
    _rows = rows
    _related = related
  }

  func row(for key: ObjectKey) throws -> Row? {
    if let row = _known[key] { return row }
    let row = try _rows([key])[0]
    _known[key] = row
    return row
  }

  func keep(_ objects: [StoredObject]) {
    for object in objects { _known[object.key] = object.row }
  }

  func members(of owner: ObjectKey, slot: Int) throws -> [ObjectKey] { try _related(owner, slot) }
}

/// Computes a dictionary fetch from stored objects, for stores without SQL.
struct DictionaryEvaluation {
  let source: StoredObjectSource
  /// Layouts by entity number - 1.
  let layouts: [PropertyLayout]

  private typealias Line = (values: [Value], keys: [PredicateValue])

  func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    var rows = plan.rows
    rows.limit = 0
    rows.offset = 0
    rows.sort = []
    rows.content = .values
    let objects = try source.fetch(rows)
    source.keep(objects)
    var lines: [Line] = []
    for group in try _groups(objects, plan) {
      if let line = try _line(group, plan) { lines.append(line) }
    }
    if plan.isDistinct { lines = _distinct(lines) }
    if !plan.rows.sort.isEmpty { lines = _sorted(lines, plan.rows.sort) }
    let rest = lines.dropFirst(plan.rows.offset)
    return (plan.rows.limit > 0 ? rest.prefix(plan.rows.limit) : rest).map(\.values)
  }

  private func _groups(_ objects: [StoredObject], _ plan: DictionaryPlan) throws -> [[StoredObject]] {
    if !plan.isGrouped { return objects.map { [$0] } }
    if plan.groups.isEmpty { return [objects] }
    var places: [[PredicateValue]: Int] = [:]
    var groups: [[StoredObject]] = []
    for object in objects {
      var evaluator = PredicateEvaluator(StoredSubject(key: object.key, source: source))
      let key = try plan.groups.map { _normalized(try evaluator.value(of: $0)) }
      if let place = places[key] {
        groups[place].append(object)
      } else {
        places[key] = groups.count
        groups.append([object])
      }
    }
    return groups
  }

  /// Normalizes a value so that equal values compare equal: an object becomes its key.
  private func _normalized(_ value: PredicateValue) -> PredicateValue {
    switch value {
    case .object(let object):
      if let id = object.objectID { return .object(PredicateObject(id.canonical)) }
      return value
    // As in SQL, strings that differ only in Unicode normalization are distinct.
    case .string(let text): return .data(Data(text.utf8))
    default: return value
    }
  }

  /// Returns the values of one group and its sort keys; nil if the HAVING condition excludes it.
  private func _line(_ group: [StoredObject], _ plan: DictionaryPlan) throws -> Line? {
    let first = group.first
    let subject = first.map { StoredSubject(key: $0.key, source: source) }
    func value(_ expression: ExpressionTree, _ variables: [String: PredicateValue] = [:]) throws
      -> PredicateValue
    {
      let expression = plan.isGrouped ? try _aggregated(expression, group, plan.rows.layout) : expression
      if let subject { return try expression.value(for: subject, variables: variables) }
      return try expression.value(for: ValueSubject(.null), variables: variables)
    }
    var found: [String: PredicateValue] = [:]
    var values: [Value] = []
    for column in plan.columns {
      if case .keyPath(let path) = column.expression, let first, column.type != .objectID,
        !path.contains(where: { $0.hasPrefix("@") })
      {
        // The raw cell: predicates cannot represent a transformable or composite value.
        values.append(try _cell(path, first.key))
        continue
      }
      let result = try value(column.expression)
      found[column.name] = result
      values.append(Value(result, readAs: column.type))
    }
    if let having = plan.having {
      for column in plan.columns where found[column.name] == nil {
        found[column.name] = try value(column.expression)
      }
      guard let subject, try having.matches(subject, variables: found) else { return nil }
    }
    let keys = try plan.rows.sort.map { term -> PredicateValue in
      if term.keyPath.count == 1, plan.rows.layout.slot(named: term.keyPath[0]) == nil {
        if let known = found[term.keyPath[0]] { return known }
        if let column = plan.columns.first(where: { $0.name == term.keyPath[0] }) {
          return try value(column.expression)
        }
      }
      return _normalizedForSort(try value(.keyPath(term.keyPath)))
    }
    return (values, keys)
  }

  private func _normalizedForSort(_ value: PredicateValue) -> PredicateValue {
    guard case .object(let object) = value, let id = object.objectID else {
      return value
    }
    return .int(id.key?.reference ?? 0)
  }

  /// Returns the expression with each row aggregate replaced by its result.
  private func _aggregated(
    _ expression: ExpressionTree, _ group: [StoredObject], _ layout: PropertyLayout
  ) throws -> ExpressionTree {
    try expression.rewritten { part throws -> ExpressionTree? in
      guard case .function(let function, let arguments) = part,
        RowAggregate.isTaken(function, arguments, from: layout, in: layouts)
      else { return nil }
      var values: [PredicateValue] = []
      for object in group {
        let value = try arguments[0].value(for: StoredSubject(key: object.key, source: source))
        if !value.isNull { values.append(value) }
      }
      return .constant(try RowAggregate.value(function, of: values))
    } ?? expression
  }

  private func _cell(_ path: [String], _ key: ObjectKey) throws -> Value {
    var key = key
    for (index, step) in path.enumerated() {
      guard let slot = key.space.layout.slot(named: step), let row = try source.row(for: key) else {
        return .null
      }
      if index == path.count - 1 { return row[slot] }
      guard let next = row[slot].key else { return .null }
      key = next
    }
    return .null
  }

  private func _distinct(_ lines: [Line]) -> [Line] {
    var seen = Set<[PredicateValue]>()
    return lines.filter { line in seen.insert(line.values.map(_identity)).inserted }
  }

  private func _identity(_ value: Value) -> PredicateValue {
    switch value {
    case .reference, .pending: value.key.map { .object(PredicateObject(NSManagedObjectID($0))) } ?? .null
    case .string(let text): .data(Data(text.utf8))
    case .transformable(let box): .data(box.data ?? Data())
    default: PredicateValue(value, of: .undefined, shown: { _ in nil })
    }
  }

  private func _sorted(_ lines: [Line], _ terms: [FetchPlan.SortTerm]) -> [Line] {
    lines.enumerated().sorted { left, right in
      for (index, term) in terms.enumerated() {
        let verdict =
          (try? left.element.keys[index].sorted(against: right.element.keys[index], term.comparison.ordering))
          ?? .orderedSame
        if verdict != .orderedSame { return (verdict == .orderedAscending) == term.ascending }
      }
      return left.offset < right.offset
    }.map(\.element)
  }
}

extension Value {
  /// Converts a computed value to a cell of the given type; null if that is impossible.
  init(_ value: PredicateValue, readAs type: AttributeType) {
    switch type.form {
    case .integer16, .integer32, .integer64: self = value.integer.map(Value.int) ?? .null
    case .boolean: self = value.isNull ? .null : .int(value.isTrue ? 1 : 0)
    case .double, .float, .date:
      if case .date(let seconds) = value {
        self = .double(seconds)
      } else {
        self = value.double.map(Value.double) ?? .null
      }
    case .decimal: self = value.decimal.map { .decimal(DecimalBox($0)) } ?? .null
    default:
      switch value {
      case .null, .collection, .dictionary: self = .null
      case .bool(let flag): self = .int(flag ? 1 : 0)
      case .int(let number): self = .int(number)
      case .double(let number), .date(let number): self = .double(number)
      case .decimal(let number): self = .decimal(DecimalBox(number))
      case .string(let text): self = .string(text)
      case .data(let data): self = .data(data)
      case .uuid(let uuid): self = .uuid(uuid)
      case .url(let url): self = .string(url.absoluteString)
      case .object(let object):
        self = object.objectID?.key.map(Value.reference) ?? .null
      }
    }
  }
}

extension StoreReading {
  /// Computes the dictionaries in memory from the results of `fetch`.
  package func table(_ plan: DictionaryPlan) throws -> [[Value]] {
    let source = StoredObjectSource(
      fetch: { try self.fetch($0) }, rows: { try self.rows(for: $0) },
      related: { try self.related(to: [$0], slot: $1)[0] })
    return try DictionaryEvaluation(source: source, layouts: spaces.map(\.layout)).table(plan)
  }
}

import CoreDataModelSchema

/// Finds the columns of an entity's table in a file.
///
/// A column has the name that it would have in a new file. Two parts of that are looked up, because how Core
/// Data counts is not known in every case: an entity's number inside the name (`Z8_OWNER`, `Z4NOTICES`), if
/// the file has one such column and it is no other's; and the number at the end of a name that several
/// columns would have. The latter is decided by the declared types and by the values of the rows: the rows of
/// an entity have values only in the columns of its own properties.
struct ColumnBinding {
  private let _table: TableMapping
  private let _mapping: StoreMapping
  /// The file's columns, with their declared types.
  private let _present: [String: String]
  private let _binder: SchemaBinder
  /// Plain names, by number of the column.
  private var _names: [String]
  private var _taken: Set<String>

  /// Rows of an entity that are looked at before all are.
  private static let _sampleSize = 128

  init(
    _ table: TableMapping, _ mapping: StoreMapping, _ present: [String: String], _ binder: SchemaBinder
  ) {
    _table = table
    _mapping = mapping
    _present = present
    _binder = binder
    _names = table.columns.map { StoreVocabulary.plain($0.name) }
    _taken = []
  }

  /// - Throws: `StoreOpenError.incompatible`, naming the first column that is missing.
  func bind() throws -> TableMapping {
    if _table.numbered.isEmpty, _names.allSatisfy({ _present[$0] != nil }) { return _table }
    var binding = self
    return try binding._bound()
  }

  private mutating func _bound() throws -> TableMapping {
    let numbered = Set(_table.numbered.flatMap { $0.members.map(\.column) })
    _taken = Set(_names)
    for index in _names.indices where !numbered.contains(index) && _present[_names[index]] == nil {
      guard let name = _renumbered(index) else { throw _binder.missing(_names[index], in: _table.name) }
      _take(name, for: index)
    }
    for group in _table.numbered { try _decide(group) }
    let columns = zip(_table.columns, _names).map { column, name in
      TableColumn(
        name: StoreVocabulary.quoted(name), declaredType: column.declaredType, content: column.content)
    }
    return TableMapping(
      rootNumber: _table.rootNumber, name: _table.name, columns: columns,
      hasSubentities: _table.hasSubentities, numbered: _table.numbered)
  }

  private mutating func _take(_ name: String, for index: Int) {
    _names[index] = name
    _taken.insert(name)
  }

  // MARK: Numbers of entities

  /// Returns the only free column whose name differs by the entity's number.
  private func _renumbered(_ index: Int) -> String? {
    guard let wanted = EntityNumberedName(_names[index], _table.columns[index].content) else { return nil }
    let fitting = _present.keys.filter {
      !_taken.contains($0) && EntityNumberedName($0, _table.columns[index].content) == wanted
    }
    return fitting.count == 1 ? fitting[0] : nil
  }

  // MARK: Numbers at the end

  private mutating func _decide(_ group: NumberedColumns) throws {
    let own = Set(group.members.map { _names[$0.column] })
    let stems = Set(group.members.map(\.stem))
    let candidates = _present.keys.filter { name in
      own.contains(name)
        || !_taken.contains(name) && stems.contains { Self._isNumbered(name, $0, group, _table) }
    }.sorted()
    guard candidates.count >= group.members.count else {
      let missing = group.members.first { _present[_names[$0.column]] == nil } ?? group.members[0]
      throw _binder.missing(_names[missing.column], in: _table.name)
    }
    for (members, names) in _byType(group.members, candidates) { try _assign(names, to: members) }
  }

  /// Whether a column of the file may be one of the group's.
  private static func _isNumbered(
    _ name: String, _ stem: String, _ group: NumberedColumns, _ table: TableMapping
  ) -> Bool {
    if NumberedColumns.isNumbered(name, stem) { return true }
    return group.members.contains { member in
      guard member.stem == stem else { return false }
      let content = table.columns[member.column].content
      guard let wanted = EntityNumberedName(stem, content),
        let found = EntityNumberedName(name, content)
      else { return false }
      return NumberedColumns.isNumbered(found.rest, wanted.rest)
    }
  }

  /// Splits a group by declared types, if the columns of each type are as many as its members.
  private func _byType(
    _ members: [NumberedColumns.Member], _ names: [String]
  ) -> [([NumberedColumns.Member], [String])] {
    let wanted = Dictionary(grouping: members) { _table.columns[$0.column].declaredType }
    let found = Dictionary(grouping: names) { _present[$0]?.uppercased() ?? "" }
    guard wanted.allSatisfy({ found[$0.key]?.count ?? 0 >= $0.value.count }) else {
      return [(members, names)]
    }
    return wanted.sorted { $0.key < $1.key }.map { ($0.value, found[$0.key]!) }
  }

  private mutating func _assign(_ names: [String], to members: [NumberedColumns.Member]) throws {
    var settled = members.count == 1 && names.count == 1 ? [0: names[0]] : try _evidence(names, members)
    // Values that contradict each other decide nothing.
    if Set(settled.values).count < settled.count { settled = [:] }
    var free = names.filter { !settled.values.contains($0) }
    var waiting: [Int] = []
    for index in members.indices where settled[index] == nil {
      let name = _names[members[index].column]
      if let position = free.firstIndex(of: name) {
        settled[index] = free.remove(at: position)
      } else {
        waiting.append(index)
      }
    }
    for index in waiting { settled[index] = free.removeFirst() }
    for (index, name) in settled { _take(name, for: members[index].column) }
  }

  /// Returns the columns that values give to members, by number of the member.
  ///
  /// Looks at a few rows of each entity first, then at all rows of those that had no value there, until only
  /// one member is left.
  private func _evidence(_ names: [String], _ members: [NumberedColumns.Member]) throws -> [Int: String] {
    var settled: [Int: String] = [:]
    var open: [(member: Int, rows: String)] = []
    let columns = names.map(StoreVocabulary.quoted)
    for (number, member) in members.enumerated() {
      guard let rows = _rows(of: member, members) else { continue }
      let flags = try _binder.flags(
        "SELECT \(columns.map { "MAX(\($0) IS NOT NULL)" }.joined(separator: ", ")) FROM "
          + "(SELECT \(columns.joined(separator: ", ")) FROM \(_table.name) WHERE \(rows) LIMIT \(Self._sampleSize))",
        count: names.count)
      let filled = names.indices.filter { flags[$0] }
      if filled.isEmpty {
        open.append((number, rows))
      } else {
        settled[number] = _choice(filled.map { names[$0] }, member)
      }
    }
    for (number, rows) in open where settled.count < members.count - 1 || names.count > members.count {
      let filled = try names.indices.filter {
        try _binder.finds("SELECT 1 FROM \(_table.name) WHERE \(rows) AND \(columns[$0]) IS NOT NULL LIMIT 1")
      }
      if !filled.isEmpty { settled[number] = _choice(filled.map { names[$0] }, members[number]) }
    }
    return settled
  }

  /// Of several columns with values, a property has the one of a new file.
  private func _choice(_ filled: [String], _ member: NumberedColumns.Member) -> String? {
    let name = _names[member.column]
    return filled.count == 1 || !filled.contains(name) ? filled[0] : name
  }

  /// Returns the condition for rows whose entity has this property and no other of the group; nil if there is
  /// no such entity.
  private func _rows(of member: NumberedColumns.Member, _ members: [NumberedColumns.Member]) -> String? {
    func family(_ member: NumberedColumns.Member) -> Set<Int> {
      Set(_mapping.layout.layout(numbered: member.owner).family)
    }
    let others = members.filter { $0.column != member.column }
    let entities = others.reduce(into: family(member)) { $0.subtract(family($1)) }
    guard !entities.isEmpty else { return nil }
    let numbers = entities.map(_mapping.numbers.stored).sorted().map(String.init)
    return "Z_ENT IN (\(numbers.joined(separator: ", ")))"
  }
}

/// A name with the number of an entity in it: `Z8_OWNER`, `Z4NOTICES`, `Z_FOK_4NOTICES`.
struct EntityNumberedName: Hashable {
  let prefix: String
  /// What follows the number.
  let rest: String

  /// Nil for columns whose names contain no entity's number.
  init?(_ name: String, _ content: ColumnContent) {
    switch content {
    case .foreignKey, .foreignEntity: prefix = "Z"
    case .order: prefix = "Z_FOK_"
    default: return nil
    }
    guard name.hasPrefix(prefix) else { return nil }
    let behind = name.dropFirst(prefix.count)
    let rest = behind.drop { $0.isASCII && $0.isNumber }
    guard rest.count < behind.count, !rest.isEmpty, rest.hasPrefix("_") == (content == .foreignEntity) else {
      return nil
    }
    self.rest = String(rest)
  }
}

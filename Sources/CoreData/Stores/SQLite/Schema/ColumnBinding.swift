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

  /// Rows of an entity that are looked at from either end.
  private static let _sampleSize = 64

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
    try _decide()
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

  /// Members of a group, and the columns of the file that may be theirs.
  private struct Choice {
    let members: [NumberedColumns.Member]
    let names: [String]
    /// The columns that values have given to members, by number of the member.
    var settled: [Int: String] = [:]

    /// Whether more values could decide.
    var isOpen: Bool { settled.count < (names.count > members.count ? members.count : members.count - 1) }
  }

  /// Looks at a few rows of each entity first. Where these have no value, all rows are looked at, unless the
  /// values in other columns show that the table is numbered like a new one: numbers follow the order of the
  /// entities, which is one for all columns.
  private mutating func _decide() throws {
    var choices = try _table.numbered.flatMap(_choices)
    var agrees = false, differs = false
    for index in choices.indices where choices[index].names.count > 1 {
      try _sample(&choices[index])
      for (member, name) in choices[index].settled {
        if name == _names[choices[index].members[member].column] { agrees = true } else { differs = true }
      }
    }
    for var choice in choices {
      if choice.names.count > 1, choice.isOpen,
        differs || !agrees || choice.names.count > choice.members.count
      {
        try _search(&choice)
      }
      _assign(choice)
    }
  }

  private func _choices(of group: NumberedColumns) throws -> [Choice] {
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
    return _byType(group.members, candidates).map { Choice(members: $0, names: $1) }
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

  private mutating func _assign(_ choice: Choice) {
    var settled = choice.settled
    // Values that contradict each other decide nothing.
    if Set(settled.values).count < settled.count { settled = [:] }
    var free = choice.names.filter { !settled.values.contains($0) }
    var waiting: [Int] = []
    for index in choice.members.indices where settled[index] == nil {
      let name = _names[choice.members[index].column]
      if let position = free.firstIndex(of: name) {
        settled[index] = free.remove(at: position)
      } else {
        waiting.append(index)
      }
    }
    for index in waiting { settled[index] = free.removeFirst() }
    for (index, name) in settled { _take(name, for: choice.members[index].column) }
  }

  // MARK: Values

  /// Looks at the first and the last rows of each entity: a younger property has values in the last ones only.
  private func _sample(_ choice: inout Choice) throws {
    let columns = choice.names.map(StoreVocabulary.quoted)
    let list = columns.joined(separator: ", ")
    for (number, member) in choice.members.enumerated() where choice.isOpen {
      let entities = _entities(of: member, choice.members)
      if entities.isEmpty { continue }
      let samples = entities.prefix(200).flatMap { entity in
        ["", " DESC"].map {
          "SELECT * FROM (SELECT \(list) FROM \(_table.name) WHERE Z_ENT = \(entity) ORDER BY Z_PK\($0) LIMIT \(Self._sampleSize))"
        }
      }
      let sums = columns.map { "MAX(\($0) IS NOT NULL)" }.joined(separator: ", ")
      let flags = try _binder.flags(
        "SELECT \(sums) FROM (\(samples.joined(separator: " UNION ALL ")))", count: columns.count)
      _settle(number, flags, &choice)
    }
  }

  /// Looks at all rows of entities that have no value in the sample.
  private func _search(_ choice: inout Choice) throws {
    let columns = choice.names.map { "\(StoreVocabulary.quoted($0)) IS NOT NULL" }
    for (number, member) in choice.members.enumerated() where choice.settled[number] == nil && choice.isOpen {
      let entities = _entities(of: member, choice.members)
      if entities.isEmpty { continue }
      let flags = try _binder.flags(
        "SELECT \(columns.joined(separator: ", ")) FROM \(_table.name) WHERE Z_ENT IN "
          + "(\(entities.map(String.init).joined(separator: ", "))) AND (\(columns.joined(separator: " OR "))) LIMIT 1",
        count: columns.count)
      _settle(number, flags, &choice)
    }
  }

  /// Of several columns with values, a property has the one of a new file, or none is known to be its own.
  private func _settle(_ number: Int, _ flags: [Bool], _ choice: inout Choice) {
    let filled = choice.names.indices.filter { flags[$0] }.map { choice.names[$0] }
    let own = _names[choice.members[number].column]
    choice.settled[number] = filled.count == 1 ? filled[0] : filled.contains(own) ? own : nil
  }

  /// Returns the stored numbers of the entities that have this property and no other of the group.
  private func _entities(of member: NumberedColumns.Member, _ members: [NumberedColumns.Member]) -> [Int] {
    func family(_ member: NumberedColumns.Member) -> Set<Int> {
      Set(_mapping.layout.layout(numbered: member.owner).family)
    }
    let others = members.filter { $0.column != member.column }
    let entities = others.reduce(into: family(member)) { $0.subtract(family($1)) }
    return entities.map(_mapping.numbers.stored).sorted()
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

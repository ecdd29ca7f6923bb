import CoreDataPredicateLanguage

/// To-many relationships and collections of constants.
extension QueryCompiler {
  /// The members of a to-many as the FROM clause of a subselect.
  private struct Members {
    let scope: QueryScope
    let source: SelectSource
    /// The condition that joins the members to their owner.
    let correlation: String
    /// The column with the owner's key.
    let ownerColumn: String
  }

  private mutating func _open(_ path: ToManyPath) throws -> Members {
    let alias = aliases.next()
    switch mapping.storage(of: path.slot, in: path.owner.layout.entityNumber) {
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let column, _, _, _) = mapping.storage(of: inverse, in: destination) else { break }
      let source = SelectSource("\(mapping.table(of: destination).name) \(alias)")
      let owner = "\(alias).\(mapping.column(column, of: destination).name)"
      let scope = QueryScope(
        layout: mapping.layout.layout(numbered: destination), alias: alias, source: source, mapping: mapping)
      return Members(
        scope: scope, source: source, correlation: "\(owner) = \(path.owner.identity)", ownerColumn: owner)
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = mapping.joins[index]
      let ends = join.ends(ownerIsFirst: ownerIsFirst)
      let source = SelectSource("\(join.name) \(alias)")
      let scope = QueryScope(
        layout: mapping.layout.layout(numbered: destination), identity: "\(alias).\(ends.member)",
        entityColumn: nil,
        source: source, mapping: mapping, isOuter: false)
      let owner = "\(alias).\(ends.owner)"
      return Members(
        scope: scope, source: source, correlation: "\(owner) = \(path.owner.identity)", ownerColumn: owner)
    case .none, .attribute, .toOne, .composite: break
    }
    throw untranslatable(path.outline, "the relationship is not stored")
  }

  /// Returns an EXISTS condition: some member satisfies `condition`.
  package mutating func any(
    _ path: ToManyPath, _ condition: (inout QueryCompiler, Operand) throws -> SQLFragment
  ) throws -> SQLFragment {
    let members = try _open(path)
    let member = try resolve(path.rest, from: members.scope, outline: path.outline)
    let test: SQLFragment
    if case .toMany(let further) = member {
      test = try any(further, condition)
    } else {
      test = try condition(&self, member)
    }
    return "EXISTS (SELECT 1 FROM \(sql: members.source.text) WHERE \(sql: members.correlation) AND \(test))"
  }

  /// Tests whether a constant object is a member, by looking up its owners, which needs no scan of all
  /// owners.
  package mutating func contains(_ path: ToManyPath, constant index: Int) throws -> SQLFragment {
    let members = try _open(path)
    let key = dialect.constant(.constant(index, .key(root: members.scope.layout.rootNumber)), .null)
    let isMember: SQLFragment = "\(sql: members.scope.identity) = \(key)"
    // Without the NULL tests, NOT of this condition would be unknown instead of true for a member without
    // owner and at the end of a path with a nil step.
    let owner = path.owner.identity
    let test: SQLFragment = """
      \(sql: owner) IN (SELECT \(sql: members.ownerColumn) FROM \(sql: members.source.text) \
      WHERE \(isMember) AND \(sql: members.ownerColumn) IS NOT NULL)
      """
    return path.owner === evaluated ? test : "(\(sql: owner) IS NOT NULL AND \(test))"
  }

  /// Compiles `toMany.@count`, `toMany.@sum.attribute`, `toMany.attribute.@sum` ...; nil if the path has no
  /// operator.
  package mutating func aggregate(_ path: ToManyPath) throws -> Operand? {
    guard let position = path.rest.firstIndex(where: { $0.hasPrefix("@") }) else { return nil }
    let name = String(path.rest[position].dropFirst())
    let keys = path.rest[..<position] + path.rest[(position + 1)...]
    if name == "count" {
      guard keys.isEmpty else {
        throw untranslatable(path.outline, "@count must stand right behind the relationship")
      }
      let members = try _open(path)
      return .scalar(
        "(SELECT \(sql: dialect.functionPrefix)COUNT(*) FROM \(sql: members.source.text) WHERE \(sql: members.correlation))",
        .number)
    }
    guard let function = PredicateFunction(collectionOperator: name) else {
      throw untranslatable(path.outline, "\(dialect.name) has no collection operator @\(name)")
    }
    return .scalar(try aggregated(function, path, keys), .number)
  }

  /// Compiles an aggregate of one attribute of the members.
  package mutating func aggregated(
    _ function: PredicateFunction, _ path: ToManyPath, _ keys: ArraySlice<String>
  ) throws -> SQLFragment {
    let members = try _open(path)
    guard case .scalar(let column, let kind) = try resolve(keys, from: members.scope, outline: path.outline)
    else {
      throw untranslatable(path.outline, "\(function.shortName) needs an attribute of the members")
    }
    if function == .median || function == .mode || function == .standardDeviation, kind != .number {
      throw untranslatable(path.outline, "\(function.shortName) needs numbers")
    }
    guard function != .mode, let value = dialect.aggregate(function, column, kind) else {
      throw untranslatable(path.outline, "\(dialect.name) has no aggregate \(function.shortName)")
    }
    return "(SELECT \(value) FROM \(sql: members.source.text) WHERE \(sql: members.correlation))"
  }

  /// Compiles the number of members for which a predicate about `$variable` holds.
  package mutating func countedSubquery(
    _ collection: ExpressionTree, _ variable: String, _ predicate: PredicateTree
  ) throws -> SQLFragment {
    guard case .toMany(let path) = try operand(collection), path.rest.isEmpty else {
      throw untranslatable(collection.outline, "the collection of a SUBQUERY must be a to-many relationship")
    }
    let members = try _open(path)
    let shadowed = variables.updateValue(members.scope, forKey: variable)
    defer { variables[variable] = shadowed }
    let condition = parenthesized(predicate, try condition(predicate))
    return """
      (SELECT \(sql: dialect.functionPrefix)COUNT(*) FROM \(sql: members.source.text) WHERE \(sql: members.correlation) AND \(condition))
      """
  }

  // MARK: IN

  package mutating func membership(
    _ left: Operand, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    switch right {
    case .constant(let index, .collection(let members)):
      return try _membership(left, index, members, comparison)
    case .constant(let index, .dictionary):
      return try _inValues(left, index, comparison)
    case .list(let members):
      var tests: [SQLFragment] = []
      for member in members { tests.append(try compare(left, .equal, member, comparison)) }
      return tests.isEmpty ? "1 = 0" : "(\(SQLFragment.joined(tests, by: "OR")))"
    case .constant(_, .string), .scalar(_, .string):
      return try textTest(.contains, right, left, comparison)
    default:
      throw untranslatable(
        comparison.right.outline, "IN needs a collection, a text or a to-many relationship")
    }
  }

  private mutating func _membership(
    _ left: Operand, _ index: Int, _ members: [PredicateValue], _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    if members.isEmpty { return "1 = 0" }
    if comparison.options.needsTextFunction, left.kind == .string {
      let subject = try scalar(left, .natural, comparison.left.outline)
      let values = dialect.values(.constant(index, .members(.natural)), .string)
      if let wanted = dialect.key(of: subject, comparison.options),
        let key = dialect.key(of: "v.value", comparison.options)
      {
        // One look-up for each row, however many values there are. NULL for NULL, as below.
        return """
          (CASE WHEN \(subject) IS NULL THEN NULL ELSE \(wanted) IN \
          (SELECT \(key) FROM \(values) WHERE v.value IS NOT NULL) END)
          """
      }
      guard let test = dialect.test(.equal, subject, "v.value", constant: nil, comparison.options) else {
        throw untranslatable(comparison.left.outline, "\(dialect.name) has no such comparison of texts")
      }
      // Without the CASE, NOT of this condition would hold for NULL, unlike for any other comparison.
      return """
        (CASE WHEN \(subject) IS NULL THEN NULL ELSE EXISTS \
        (SELECT 1 FROM \(values) WHERE \(test)) END)
        """
    }
    if members.count == 1 {
      let (subject, conversion) = try _subject(left, comparison)
      let member = dialect.constant(.constant(index, .member(0, conversion)), members[0])
      let (l, r) = dialect.comparable(subject, left.kind, member, ValueKind(members[0]))
      return "\(l) = \(r)"
    }
    return try _inValues(left, index, comparison)
  }

  /// Compiles a look-up by many values of a unique attribute as a join; nil for any other condition.
  ///
  /// Imports run such a fetch before each save to find existing identifiers. For IN, the database would
  /// first sort the values into a temporary table, which costs as much as the index look-ups themselves.
  package mutating func uniqueLookUp(_ plan: FetchPlan) throws -> (values: SQLFragment, column: SQLFragment)?
  {
    guard dialect.joinsUniqueValues, case .comparison(let comparison) = plan.predicate, comparison.op == .in,
      comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let path) = comparison.left, path.count == 1,
      case .constant(.collection(let members)) = comparison.right, members.count > 2,
      let slot = plan.layout.slot(named: path[0]), plan.layout.slots[slot].form == .string,
      plan.layout.uniquenessConstraints.contains([slot])
    else { return nil }
    let left = try operand(comparison.left)
    guard case .constant(let index, _) = try operand(comparison.right) else {
      throw untranslatable(comparison.right.outline, "it was met out of order")
    }
    let (column, conversion) = try _subject(left, comparison)
    looksUpUniqueValues = true
    let values = QueryParameter.constant(index, .members(conversion))
    return (dialect.values(values, .string), column)
  }

  private mutating func _inValues(
    _ left: Operand, _ index: Int, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    try isAny(left, of: { .constant(index, .members($0)) }, comparison)
  }

  /// Tests whether a value equals any of those that `parameter` binds, with the conversion that the value
  /// requires.
  package mutating func isAny(
    _ left: Operand, of parameter: (ConstantConversion) -> QueryParameter,
    _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    let (subject, conversion) = try _subject(left, comparison)
    return dialect.isMember(subject, left.kind, of: parameter(conversion))
  }

  private mutating func _subject(
    _ left: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> (SQLFragment, ConstantConversion) {
    if case .scalar(_, .opaque) = left {
      throw untranslatable(
        comparison.left.outline, "externally stored values can only be compared with nil")
    }
    let conversion = conversion(for: left)
    return (try scalar(left, .natural, comparison.left.outline), conversion)
  }
}

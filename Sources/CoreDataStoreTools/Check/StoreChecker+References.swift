import CoreData
import CoreDataModelSchema
import CoreDataToolKit

// To-one columns, join tables and the order of members.

extension StoreChecker {
  func checkReferences(_ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout) throws {
    for reference in table.toOnes {
      let rule = ReferenceRule(reference, table, anatomy)
      let name = rule.name
      let destination = anatomy.name(of: reference.destination)
      try find(
        .danglingReference, .error, RowCondition(table, rule.isDangling), advice: "set the reference to NULL",
        isMendable: true
      ) { "\(counted($0, "row")) whose \(name) leads to a missing row of \(rule.target.name)" }
      try find(
        .wrongDestination, .error, RowCondition(table, rule.isOfWrongEntity),
        advice: "set the reference to NULL",
        isMendable: true
      ) { "\(counted($0, "row")) whose \(name) leads to an object that is no \(destination)" }
      if let condition = rule.hasWrongEntityColumn {
        try find(
          .wrongDestination, .error, RowCondition(table, condition),
          advice: "set \(reference.entityColumn ?? "") to the Z_ENT of the destination", isMendable: true
        ) { "\(counted($0, "row")) whose \(name) says another entity than its destination has" }
      }
      if let condition = rule.isOneSided {
        try find(
          .oneSidedInverse, .error, RowCondition(table, condition),
          advice: "set the other side, or this one to NULL where that leads elsewhere", isMendable: true
        ) {
          "\(counted($0, "row")) whose \(name) leads to an object whose \(reference.inverseName ?? "") does not lead back"
        }
      }
      if !reference.isOptional, !reference.isHidden {
        let scope = anatomy.isKind(of: reference.owner)
        try find(
          .missingValue, .warning, RowCondition(table, "t0.\(reference.column) IS NULL\(scope)"),
          advice: "set a destination; saving the object will fail without"
        ) { "\(counted($0, "row")) without \(name), which is not optional" }
      }
    }
  }

  func checkOrders(_ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout) throws {
    for reference in table.toOnes {
      guard let order = reference.orderColumn else { continue }
      let name = "\(anatomy.name(of: reference.owner)).\(reference.property)"
      let key = reference.column
      let advice = "give the members of each owner ascending numbers"
      try find(
        .order, .warning, RowCondition(table, "t0.\(key) IS NOT NULL AND t0.\(order) IS NULL"),
        advice: advice,
        isMendable: true
      ) { "\(counted($0, "row")) without a place among the members of \(name) (\(order))" }
      try find(
        .order, .warning,
        RowCondition(
          table,
          "(t0.\(key), t0.\(order)) IN (SELECT t1.\(key), t1.\(order) FROM \(table.name) t1 WHERE t1.\(key) IS NOT NULL "
            + "AND t1.\(order) IS NOT NULL GROUP BY 1, 2 HAVING COUNT(*) > 1)"), advice: advice,
        isMendable: true
      ) { "\(counted($0, "row")) that share their place among the members of \(name) (\(order))" }
    }
  }

  func checkJoin(_ join: StoreTableLayout.Join, _ anatomy: StoreTableLayout) throws {
    for end in JoinEnd.ends(of: join, anatomy) {
      try find(
        .danglingReference, .error, RowCondition(table: join.name, end.isDangling),
        advice: "delete the pairs",
        isMendable: true
      ) { "\(counted($0, "pair")) of \(join.property) whose \(end.column) leads to a missing row" }
      if let condition = end.isOfWrongEntity {
        try find(
          .wrongDestination, .error, RowCondition(table: join.name, condition), advice: "delete the pairs",
          isMendable: true
        ) {
          "\(counted($0, "pair")) of \(join.property) whose \(end.column) leads to an object that is no "
            + anatomy.name(of: end.entity)
        }
      }
    }
    guard join.isReflexive else { return }
    // Stores of Apple's own programs have such pairs.
    try find(
      .oneSidedInverse, .warning, RowCondition(table: join.name, JoinEnd.isOneSided(join)),
      advice: "add the pairs the other way round, unless the program that made the store means one way only",
      isMendable: true
    ) { "\(counted($0, "pair")) of \(join.property) that stand there one way only" }
  }
}

/// The rules for a to-one's columns.
struct ReferenceRule {
  private let _reference: StoreTableLayout.ToOneColumns
  private let _anatomy: StoreTableLayout
  private let _scope: String
  /// Table of the destination.
  let target: StoreTableLayout.Table
  /// The name for users.
  let name: String

  init(
    _ reference: StoreTableLayout.ToOneColumns, _ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout
  ) {
    _reference = reference
    _anatomy = anatomy
    _scope = anatomy.isKind(of: reference.owner)
    target = anatomy.table(of: reference.destination)
    name = "\(anatomy.name(of: reference.owner)).\(reference.property)"
  }

  private var _key: String { "t0.\(_reference.column)" }

  private func _target(where condition: String) -> String {
    "EXISTS (SELECT 1 FROM \(target.name) t1 WHERE t1.Z_PK = \(_key)\(condition))"
  }

  var isDangling: String { "\(_key) IS NOT NULL AND NOT \(_target(where: ""))\(_scope)" }

  var isOfWrongEntity: String {
    let family = _anatomy.isKind(of: _reference.destination, alias: "t1")
    guard !family.isEmpty else { return "0" }
    return "\(_key) IS NOT NULL AND \(_target(where: "")) AND NOT \(_target(where: family))\(_scope)"
  }

  /// Nil without a column for the destination's entity.
  var hasWrongEntityColumn: String? {
    guard let column = _reference.entityColumn else { return nil }
    let family = _anatomy.isKind(of: _reference.destination, alias: "t1")
    return "\(_key) IS NOT NULL AND \(_target(where: family + " AND t1.Z_ENT IS NOT t0.\(column)"))\(_scope)"
  }

  /// Nil unless the other end is a to-one too.
  ///
  /// True for no row if the other column is empty throughout: Apple's own programs set one side only, and a
  /// side that is never set is not damaged.
  var isOneSided: String? {
    guard let inverse = _reference.inverseColumn, let isKept = isInverseKept else { return nil }
    return
      "\(_key) IS NOT NULL AND \(_target(where: " AND t1.\(inverse) IS NOT t0.Z_PK")) AND \(isKept)\(_scope)"
  }

  /// Whether any object has the other side set; nil unless that is a to-one.
  var isInverseKept: String? {
    _reference.inverseColumn.map { "EXISTS (SELECT 1 FROM \(target.name) t3 WHERE t3.\($0) IS NOT NULL)" }
  }
}

/// The rules for one column of a join table.
struct JoinEnd {
  let column: String
  let entity: Int
  let isDangling: String
  /// Nil if all rows of the table are valid.
  let isOfWrongEntity: String?

  static func ends(of join: StoreTableLayout.Join, _ anatomy: StoreTableLayout) -> [JoinEnd] {
    [(join.first, join.firstEntity), (join.second, join.secondEntity)].map { column, entity in
      let target = anatomy.table(of: entity).name
      let family = anatomy.isKind(of: entity, alias: "t1")
      let row = "SELECT 1 FROM \(target) t1 WHERE t1.Z_PK = t0.\(column)"
      return JoinEnd(
        column: column, entity: entity, isDangling: "NOT EXISTS (\(row))",
        isOfWrongEntity: family.isEmpty ? nil : "EXISTS (\(row)) AND NOT EXISTS (\(row)\(family))")
    }
  }

  static func isOneSided(_ join: StoreTableLayout.Join) -> String {
    "NOT EXISTS (SELECT 1 FROM \(join.name) t1 WHERE t1.\(join.first) = t0.\(join.second) "
      + "AND t1.\(join.second) = t0.\(join.first))"
  }
}

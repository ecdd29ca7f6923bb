import ModelSchema
import PredicateLanguage

/// A fetch without its constants: all plans of one shape run the same SQL with other values bound.
///
/// What a constant is (text, number, object, null, how many members) is part of the shape, since the SQL depends on it.
struct QueryShape: Hashable, Sendable {
  /// What is asked of the rows.
  enum Purpose: Hashable, Sendable {
    case objects
    case count
  }

  let plan: FetchPlan
  let purpose: Purpose

  static func == (left: QueryShape, right: QueryShape) -> Bool {
    let (l, r) = (left.plan, right.plan)
    guard l.layout === r.layout, left.purpose == right.purpose, l.includesSubentities == r.includesSubentities,
      l.content == r.content, (l.limit > 0) == (r.limit > 0), (l.offset > 0) == (r.offset > 0), l.sort == r.sort
    else { return false }
    switch (l.predicate, r.predicate) {
    case (nil, nil): return true
    case (let l?, let r?): return l.hasShape(of: r)
    default: return false
    }
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(plan.layout.entityNumber)
    hasher.combine(purpose)
    hasher.combine(plan.sort.count)
    if let predicate = plan.predicate { predicate.hashShape(into: &hasher) }
  }

  /// The shape with its constants emptied, to be kept: a key must not hold on to thousands of values.
  var kept: QueryShape {
    var plan = plan
    plan.predicate = plan.predicate?.withoutConstants
    plan.limit = min(plan.limit, 1)
    plan.offset = min(plan.offset, 1)
    return QueryShape(plan: plan, purpose: purpose)
  }
}

extension PredicateValue {
  /// What the SQL depends on: the type, whether a text is empty, and how many members (up to three) of which kind.
  func hasShape(of other: PredicateValue) -> Bool {
    switch (self, other) {
    case (.collection(let left), .collection(let right)):
      guard min(left.count, 3) == min(right.count, 3) else { return false }
      return left.count >= 3 || zip(left, right).allSatisfy { $0.hasShape(of: $1) }
    case (.string(let left), .string(let right)): return left.isEmpty == right.isEmpty
    default: return shapeTag == other.shapeTag
    }
  }

  fileprivate var shapeTag: UInt8 {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .double: 3
    case .decimal: 4
    case .string: 5
    case .date: 6
    case .data: 7
    case .uuid: 8
    case .url: 9
    case .object: 10
    case .collection: 11
    case .dictionary: 12
    }
  }

  fileprivate var withoutContent: PredicateValue {
    switch self {
    case .string(let text): .string(text.isEmpty ? "" : "?")
    case .data: .data(.init())
    case .object: .object(PredicateObject(0))
    case .collection(let members): .collection(members.prefix(3).map(\.withoutContent))
    case .dictionary: .dictionary([:])
    default: self
    }
  }
}

extension ExpressionTree {
  fileprivate func hashShape(into hasher: inout Hasher) {
    switch self {
    case .constant(let value): hasher.combine(value.shapeTag)
    case .keyPath(let path): hasher.combine(path)
    case .keyPathOf(let base, let path):
      base.hashShape(into: &hasher)
      hasher.combine(path)
    case .function(let name, let arguments):
      hasher.combine(name)
      for argument in arguments { argument.hashShape(into: &hasher) }
    case .subquery(let collection, _, let predicate):
      collection.hashShape(into: &hasher)
      predicate.hashShape(into: &hasher)
    case .aggregate(let members): hasher.combine(members.count)
    default: hasher.combine(0)
    }
  }

  fileprivate func hasShape(of other: ExpressionTree) -> Bool {
    switch (self, other) {
    case (.constant(let l), .constant(let r)): l.hasShape(of: r)
    case (.keyPath(let l), .keyPath(let r)): l == r
    case (.keyPathOf(let l, let lPath), .keyPathOf(let r, let rPath)): lPath == rPath && l.hasShape(of: r)
    case (.function(let l, let lArguments), .function(let r, let rArguments)):
      l == r && Self._haveShape(lArguments, rArguments)
    case (.subquery(let l, let lVariable, let lPredicate), .subquery(let r, let rVariable, let rPredicate)):
      lVariable == rVariable && l.hasShape(of: r) && lPredicate.hasShape(of: rPredicate)
    case (.aggregate(let l), .aggregate(let r)): Self._haveShape(l, r)
    case (.conditional(let lTest, let l1, let l2), .conditional(let rTest, let r1, let r2)):
      lTest.hasShape(of: rTest) && l1.hasShape(of: r1) && l2.hasShape(of: r2)
    case (.evaluatedObject, .evaluatedObject): true
    case (.variable(let l), .variable(let r)): l == r
    // The rest cannot be translated, so nothing is gained by telling them apart cleverly.
    default: self == other
    }
  }

  private static func _haveShape(_ left: [ExpressionTree], _ right: [ExpressionTree]) -> Bool {
    left.count == right.count && zip(left, right).allSatisfy { $0.hasShape(of: $1) }
  }

  fileprivate var withoutConstants: ExpressionTree {
    switch self {
    case .constant(let value): .constant(value.withoutContent)
    case .keyPathOf(let base, let path): .keyPathOf(base.withoutConstants, path)
    case .function(let name, let arguments): .function(name, arguments.map(\.withoutConstants))
    case .subquery(let collection, let variable, let predicate):
      .subquery(collection.withoutConstants, variable: variable, predicate.withoutConstants)
    case .aggregate(let members): .aggregate(members.map(\.withoutConstants))
    case .conditional(let test, let first, let second):
      .conditional(test.withoutConstants, first.withoutConstants, second.withoutConstants)
    default: self
    }
  }
}

extension PredicateTree {
  fileprivate func hashShape(into hasher: inout Hasher) {
    switch self {
    case .constant(let value): hasher.combine(value)
    case .comparison(let comparison):
      hasher.combine(comparison.op)
      comparison.left.hashShape(into: &hasher)
      comparison.right.hashShape(into: &hasher)
    case .not(let member): member.hashShape(into: &hasher)
    case .and(let members), .or(let members):
      hasher.combine(members.count)
      for member in members { member.hashShape(into: &hasher) }
    case .block: hasher.combine(0)
    }
  }

  fileprivate func hasShape(of other: PredicateTree) -> Bool {
    switch (self, other) {
    case (.constant(let l), .constant(let r)): l == r
    case (.comparison(let l), .comparison(let r)):
      l.op == r.op && l.modifier == r.modifier && l.options == r.options && l.selector == r.selector
        && l.left.hasShape(of: r.left) && l.right.hasShape(of: r.right)
    case (.not(let l), .not(let r)): l.hasShape(of: r)
    case (.and(let l), .and(let r)), (.or(let l), .or(let r)):
      l.count == r.count && zip(l, r).allSatisfy { $0.hasShape(of: $1) }
    case (.block(let l), .block(let r)): l == r
    default: false
    }
  }

  fileprivate var withoutConstants: PredicateTree {
    switch self {
    case .comparison(var comparison):
      comparison.left = comparison.left.withoutConstants
      comparison.right = comparison.right.withoutConstants
      return .comparison(comparison)
    case .not(let member): return .not(member.withoutConstants)
    case .and(let members): return .and(members.map(\.withoutConstants))
    case .or(let members): return .or(members.map(\.withoutConstants))
    case .constant, .block: return self
    }
  }
}

import ModelSchema

/// The order of a fetch that reads all its matches anyway, made here instead of in SQL.
///
/// SQLite sorts whole rows: it writes each into a record, compares records and reads them again. What is fetched stands in
/// memory in any case, and sorting places by the first eight bytes of a key costs a tenth of that. Only for orders by the
/// entity's own attributes in their natural order, without limit; whatever else stays in SQL.
struct PackedOrder {
  private let _keys: [(slot: Int, isAscending: Bool)]
  private let _fallback: RowOrdering

  /// Nil for an order that SQLite is to make.
  init?(_ plan: FetchPlan, _ reader: RowReader) {
    guard !plan.sort.isEmpty, plan.limit == 0, plan.offset == 0, plan.content == .values,
      let format = reader.format
    else {
      return nil
    }
    var keys: [(slot: Int, isAscending: Bool)] = []
    for term in plan.sort {
      guard term.keyPath.count == 1, let slot = plan.layout.slot(named: term.keyPath[0]) else { return nil }
      switch format.kind(slot) {
      case .int, .double: break
      case .text where term.comparison == .binary: break
      default: return nil
      }
      keys.append((slot, term.ascending))
    }
    _keys = keys
    _fallback = RowOrdering(plan)
  }

  private struct Place {
    let rank: UInt64
    let index: Int
  }

  /// The rows in order; those equal by all keys stay as they stood.
  func sorted(_ found: [StoredObject]) -> [StoredObject] {
    let rows = found.map(\.row!)
    guard rows.allSatisfy(\.isPacked) else { return _sortedByValues(found) }
    let (slot, isAscending) = _keys[0]
    var places = rows.enumerated().map { index, row in
      let rank = row.packed(slot).rank
      return Place(rank: isAscending ? rank : ~rank, index: index)
    }
    places.sort { left, right in
      if left.rank != right.rank { return left.rank < right.rank }
      return _isBefore(rows[left.index], rows[right.index])
    }
    return places.map { found[$0.index] }
  }

  private func _isBefore(_ left: Row, _ right: Row) -> Bool {
    for (slot, isAscending) in _keys {
      let verdict = PackedCell.order(left.packed(slot), right.packed(slot))
      if verdict != 0 { return isAscending ? verdict < 0 : verdict > 0 }
    }
    return false
  }

  /// For rows that were too long to be packed.
  private func _sortedByValues(_ found: [StoredObject]) -> [StoredObject] {
    guard let order = _fallback.bySlot else { return found }
    return found.enumerated().sorted { left, right in
      let verdict = order(left.element.row, right.element.row)
      return verdict == 0 ? left.offset < right.offset : verdict < 0
    }.map(\.element)
  }
}

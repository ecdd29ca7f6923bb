import CoreDataModelSchema

/// Sorts the results of a fetch without limit in memory instead of in SQL.
///
/// SQLite sorts whole rows: it writes each into a record, compares records and reads them again. The results
/// are in memory anyway, and sorting indices by the first eight bytes of a key costs a fraction of that. Only
/// for sort keys that are the entity's own attributes in natural order; all other orders stay in SQL.
struct PackedOrder {
  private let _keys: [(slot: Int, isAscending: Bool)]
  /// Whether the ranks alone determine the order, except between null and the smallest number.
  private let _isRankWhole: Bool
  private let _fallback: RowOrdering

  /// Nil for an order that SQLite must produce.
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
    _isRankWhole = keys.count == 1 && format.kind(keys[0].slot) != .text
    _fallback = RowOrdering(plan)
  }

  /// Sorts the rows stably.
  func sort(_ found: inout [StoredObject]) {
    guard let ranks = _ranks(of: found) else {
      found = _sortedByValues(found)
      return
    }
    var places = ranks
    RankSort.sort(&places)
    _sortTies(&places, found)
    places.withUnsafeMutableBufferPointer { places in
      found.withUnsafeMutableBufferPointer { Self._arrange($0, by: places) }
    }
  }

  /// Returns each row's rank; nil if a row is not packed, or there are too many.
  private func _ranks(of found: [StoredObject]) -> [RankSort.Place]? {
    guard found.count <= Int32.max else { return nil }
    let (slot, isAscending) = _keys[0]
    var places: [RankSort.Place] = []
    places.reserveCapacity(found.count)
    // In place: copying an object to look at it would retain its references.
    let arePacked = found.withUnsafeBufferPointer { found in
      for index in found.indices {
        guard let cells = found[index].row?.unretained else { return false }
        let rank: UInt64? = cells._withUnsafeGuaranteedRef {
          let row = Row($0)
          return row.isPacked ? row.packed(slot).rank : nil
        }
        guard let rank else { return false }
        places.append(
          RankSort.Place(rank: isAscending ? rank : ~rank, index: Int32(truncatingIfNeeded: index)))
      }
      return true
    }
    return arePacked ? places : nil
  }

  /// Moves each element to the position of the place that names its index. Follows the cycles of the
  /// permutation, so that nothing is copied.
  private static func _arrange(
    _ found: UnsafeMutableBufferPointer<StoredObject>, by places: UnsafeMutableBufferPointer<RankSort.Place>
  ) {
    for start in places.indices where Int(places[start].index) != start {
      let first = found.moveElement(from: start)
      var gap = start
      while true {
        let source = Int(places[gap].index)
        places[gap] = RankSort.Place(rank: 0, index: Int32(truncatingIfNeeded: gap))
        if source == start { break }
        found.initializeElement(at: gap, to: found.moveElement(from: source))
        gap = source
      }
      found.initializeElement(at: gap, to: first)
    }
  }

  /// Sorts indices of equal rank by their cells.
  private func _sortTies(_ places: inout [RankSort.Place], _ found: [StoredObject]) {
    var start = 0
    while start < places.count {
      var end = start + 1
      while end < places.count, places[end].rank == places[start].rank { end += 1 }
      let rank = places[start].rank
      if end - start > 1, !_isRankWhole || rank == 0 || rank == .max {
        places[start..<end].sort { left, right in
          let (l, r) = (found[Int(left.index)].row!, found[Int(right.index)].row!)
          if _isBefore(l, r) { return true }
          return left.index < right.index && !_isBefore(r, l)
        }
      }
      start = end
    }
  }

  private func _isBefore(_ left: Row, _ right: Row) -> Bool {
    for (slot, isAscending) in _keys {
      let verdict = PackedCell.order(left.packed(slot), right.packed(slot))
      if verdict != 0 { return isAscending ? verdict < 0 : verdict > 0 }
    }
    return false
  }

  /// For rows that were too long to pack.
  private func _sortedByValues(_ found: [StoredObject]) -> [StoredObject] {
    guard let order = _fallback.bySlot else { return found }
    return found.enumerated().sorted { left, right in
      let verdict = order(left.element.row, right.element.row)
      return verdict == 0 ? left.offset < right.offset : verdict < 0
    }.map(\.element)
  }
}

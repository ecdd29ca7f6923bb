import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// What would save time, from a summary, in sentences.
struct TraceAdvice {
  let sentences: [String]

  /// - Parameter layout: The program's model; nil if it is unknown, and so are the names of to-ones.
  init(_ summary: TraceSummary, _ layout: ModelLayout?) {
    var sentences: [String] = []
    for (faults, costs) in summary.faults {
      let time = "\(counted(costs.count, "time")), \(Figures.milliseconds(costs.milliseconds)) ms"
      if faults.isToMany {
        sentences.append(
          "'\(faults.read)' of \(faults.fetched) is read object by object (\(time)): fetch with "
            + "relationshipKeyPathsForPrefetching = [\"\(faults.read)\"].")
        continue
      }
      if faults.fetched.isEmpty || faults.fetched == faults.read {
        sentences.append(
          "\(faults.read) objects are read one by one (\(time)): fetch them together, by 'SELF IN' their IDs."
        )
        continue
      }
      let names = Self._relationships(from: faults.fetched, to: faults.read, layout)
      let path =
        names.isEmpty
        ? "the relationship that leads there, or fetch them together, by 'SELF IN' their IDs"
        : names.map { "\"\($0)\"" }.joined(separator: " or ")
      sentences.append(
        "After a fetch of \(faults.fetched), \(faults.read) objects are read one by one (\(time)): prefetch \(path)."
      )
    }
    for fetches in summary.fetches where fetches.inARow >= 2 * TraceSummary.few && !fetches.isCount {
      let key = fetches.request.predicate.map { " WHERE \($0)" } ?? ""
      sentences.append(
        "\(fetches.request.entity)\(key) is fetched up to \(fetches.inARow) times in a row: fetch once with IN, and keep the "
          + "objects in a dictionary.")
    }
    if summary.storesOnMain.count > 0 {
      sentences.append(
        "Main writes to a store \(counted(summary.storesOnMain.count, "time")), for up to "
          + "\(Figures.milliseconds(summary.storesOnMain.worst)) ms: save in a background context.")
    }
    if summary.mergesOnMain.worst > ShootoutResult.frameMilliseconds {
      sentences.append(
        "A merge keeps main for \(Figures.milliseconds(summary.mergesOnMain.worst)) ms: save fewer objects at once."
      )
    }
    for fetches in summary.fetches
    where fetches.onMain > 0 && fetches.worst > ShootoutResult.frameMilliseconds && fetches.request.batch == 0
      && fetches.request.limit == 0 && fetches.most > 100
    {
      sentences.append(
        "Main fetches up to \(counted(fetches.most, "object")) of \(fetches.request.entity) at once, for up to "
          + "\(Figures.milliseconds(fetches.worst)) ms: set a fetchBatchSize.")
    }
    self.sentences = sentences
  }

  private static func _relationships(from: String, to: String, _ layout: ModelLayout?) -> [String] {
    guard let layout, let owner = layout.layoutsByName[from], let target = layout.layoutsByName[to] else {
      return []
    }
    return owner.slots.filter { slot in
      guard let relationship = slot.relationship, !slot.isHidden else { return false }
      return layout.layout(numbered: relationship.destination).family.contains(target.entityNumber)
    }.map(\.name)
  }
}

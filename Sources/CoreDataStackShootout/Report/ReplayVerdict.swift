import CoreDataToolKit

/// How a replay went beside its recording, in sentences.
struct ReplayVerdict {
  let sentences: [String]

  init(_ result: ShootoutResult) {
    let replays = result.stacks.compactMap { stack in stack.replay.map { (stack.design, $0) } }
    guard let first = replays.first?.1 else {
      sentences = []
      return
    }
    var sentences: [String] = []
    if first.fetches > 0 {
      let others = replays.filter { $0.1.equal < $0.1.fetches }
      sentences.append(
        others.isEmpty
          ? "All \(grouped(first.fetches)) fetches and counts found as many objects as in the recording."
          : "Not all fetches found as many objects as in the recording: "
            + others.map { "\($0.0.rawValue) \(grouped($0.1.equal)) of \(grouped($0.1.fetches))" }.joined(
              separator: ", ")
            + ".")
    }
    if first.byID > 0 {
      sentences.append(
        "\(counted(first.byID, "fetch", plural: "fetches")) read the recorded objects by ID, since values were not recorded "
          + "(COREDATA_RECORD_VALUES=1 does).")
    }
    for (reason, count) in first.leftOut.sorted(by: { $0.key < $1.key }) {
      sentences.append("Left out: \(grouped(count)) \(reason).")
    }
    self.sentences = sentences
  }
}

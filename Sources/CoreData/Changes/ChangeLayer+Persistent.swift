import CoreDataModelSchema

extension [ChangeLayer.Entry] {
  /// The entries in the form that stores and other contexts receive.
  var persistent: [ChangeLayer.Entry] {
    containsUnretained { $0.id.space.layout.hasTransients } ? map(\.persistent) : self
  }
}

extension ChangeLayer.Entry {
  /// The entry in the form that stores and other contexts receive: without transient values, which stay in
  /// the context that set them.
  var persistent: ChangeLayer.Entry {
    guard let row, id.space.layout.hasTransients else { return self }
    let slots = id.space.layout.slots
    let transient = slots.indices.filter {
      slots[$0].isTransient && !slots[$0].isToMany && !row.isNull(at: $0)
    }
    guard !transient.isEmpty else { return self }
    var stored = Row(copying: row, version: row.version)
    for slot in transient { stored.set(.null, at: slot) }
    return ChangeLayer.Entry(
      kind: kind, id: id, base: isUnwritten ? stored : base, row: stored, changed: changed, isWhole: isWhole)
  }
}

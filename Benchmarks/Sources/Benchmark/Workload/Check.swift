/// What a work found or left, told so that both sides can be compared.
struct Check: Codable, Equatable {
  var rows = 0
  var sum: Int64 = 0
  /// Digest of all stops left by an import.
  var digest: String?

  /// What the workload's text says must come out with 15,000 (or, as stated, 1,000,000) stops; nil where it
  /// says nothing.
  static func expected(_ work: Work, objects: Int) -> Check? {
    switch (work, objects) {
    case (.fetchAll, 15_000), (.byID, 15_000), (.traverse, 15_000), (.traverseNSSet, 15_000):
      Check(rows: 15_000, sum: 7_481_143_168)
    case (.fetchAll, 1_000_000): Check(rows: 1_000_000, sum: 500_578_067_437)
    case (.fetchPage, 15_000), (.oneReader, 15_000), (.twoReaders, 15_000), (.fourReaders, 15_000):
      Check(rows: 50_000, sum: 25_114_860_063)
    case (.count, 15_000): Check(rows: 1000, sum: 187_421)
    case (.update, 15_000), (.updateEach, 15_000): Check(rows: 1500, sum: 7_480_944_811)
    case (.delete, 15_000): Check(rows: 1500, sum: 6_711_450_165)
    case (.importBulk, 15_000), (.findOrCreate, 15_000), (.importInsert, 15_000):
      Check(rows: 15_000, digest: "97c027191b0b3c0618448a6856cc67b4")
    default: nil
    }
  }
}

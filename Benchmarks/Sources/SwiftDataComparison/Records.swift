import Foundation

/// A stop as a program has it before it imports it.
struct StopRecord: Sendable {
  let identifier: String
  let name: String
  let latitude: Double
  let longitude: Double
  let code: Int
  let createdAt: Date
  let active: Bool
  let note: String?
  let route: Int

  static let routeCount = 150

  /// The same stops on every machine.
  static func make(_ count: Int) -> [StopRecord] {
    var state: UInt64 = 42
    func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    return (0..<count).map { _ in
      let letters = next()
      return StopRecord(
        identifier: "S" + String(next(), radix: 16),
        name: String(
          decoding: (0..<16).map { UInt8(65 + (letters >> (4 * UInt64($0))) & 15) }, as: UTF8.self),
        latitude: Double(next() >> 11) * 0x1p-53 * 180 - 90,
        longitude: Double(next() >> 11) * 0x1p-53 * 360 - 180, code: Int(next() % 1_000_000),
        createdAt: Date(timeIntervalSince1970: Double(1_600_000_000 + next() % 100_000_000)),
        active: next() & 1 == 1, note: next() % 10 < 3 ? nil : "note " + String(next(), radix: 16),
        route: Int(next() % UInt64(routeCount)))
    }
  }
}

/// The works, in the order in which they are done on one store.
enum Work: String, CaseIterable {
  case importBulk = "import-bulk"
  case findOrCreate = "find-or-create"
  case fetchAll = "fetch-all"
  case reads
  case findOne = "find-one"
  case pages = "fetch-page"
  case traverse
  case update
  case delete

  /// What the work may cost beside Core Data's API.
  var bound: Double {
    switch self {
    case .importBulk: 1.2
    case .findOrCreate, .pages, .traverse: 1.25
    case .fetchAll, .findOne, .reads: 1.45
    case .update, .delete: 1.15
    }
  }
}

/// One of the two APIs on a store of its own.
protocol Side {
  init(_ records: [StopRecord], at url: URL) throws

  /// Does a work in a new context and answers a sum of what it read, by which both sides are compared.
  func run(_ work: Work) throws -> Int
}

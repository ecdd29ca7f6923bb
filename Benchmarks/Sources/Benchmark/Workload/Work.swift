/// What is measured. The first group is the workload that other implementations were measured with, too.
enum Work: String, CaseIterable, Codable {
  case importBulk = "import-bulk"
  case findOrCreate = "find-or-create"
  case importInsert = "import-insert"
  case reimport
  case fetchAll = "fetch-all"
  case fetchPage = "fetch-page"
  case byID = "by-id"
  case traverse
  case update
  case delete
  case count
  case concurrent

  /// `traverse` once more, the members taken as Foundation's sets. Measured when it is asked for.
  case traverseNSSet = "traverse-nsset"

  // Claims about the engine alone: nothing in SQLite compares with them.
  case shared
  case nested3
  case nestedSave = "nested-save"
  case merge
  case faults
  case memory
  case list

  // Not measured.
  case template

  /// The works that stand beside a floor.
  static let compared: [Work] = [
    .importBulk, .findOrCreate, .importInsert, .reimport, .fetchAll, .fetchPage, .byID, .traverse, .update,
    .delete,
    .count, .concurrent,
  ]

  /// The works of the engine alone.
  static let claims: [Work] = [.shared, .nested3, .nestedSave, .merge, .faults, .memory, .list]

  /// Whether it begins with a store that holds the stops, and not with routes only.
  var needsTemplate: Bool {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .template, .shared, .nested3: false
    default: true
    }
  }

  /// Whether it changes its store, and so needs a copy of the template.
  var changesStore: Bool {
    switch self {
    case .reimport, .update, .delete, .concurrent, .nestedSave, .merge: true
    default: false
    }
  }

  /// Whether several threads work at the same time, which a real-time priority would disturb.
  var isConcurrent: Bool { self == .concurrent }

  /// Whether the store ends with exactly the imported stops, which are then compared to the last field.
  var leavesImport: Bool {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .reimport: true
    default: false
    }
  }

  /// The most that the engine may take of the floor's time.
  var limit: Double? {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .reimport, .byID, .update, .delete: 2
    case .fetchAll: 1.6
    case .fetchPage, .count: 1.2
    case .traverse: 2.5
    default: nil
    }
  }
}

/// Who does it.
enum Side: String, Codable, CaseIterable { case engine, floor }

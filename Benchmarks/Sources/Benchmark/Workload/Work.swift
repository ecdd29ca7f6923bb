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
  case insertEach = "insert-each"
  case updateEach = "update-each"
  case concurrent
  case oneReader = "readers-1"
  case twoReaders = "readers-2"
  case fourReaders = "readers-4"
  case batchInsert = "batch-insert"
  case batchInsertDictionary = "batch-insert-dictionary"
  case batchInsertObject = "batch-insert-object"

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
    .count, .insertEach, .updateEach, .concurrent, .oneReader, .twoReaders, .fourReaders, .batchInsert,
    .batchInsertDictionary,
    .batchInsertObject,
  ]

  /// The works that have a floor on a PostgreSQL server.
  static let comparedOnServer: [Work] = [
    .importBulk, .findOrCreate, .importInsert, .fetchAll, .fetchPage, .byID, .update, .delete, .count,
    .insertEach,
    .updateEach,
  ]

  /// The works of the engine alone.
  static let claims: [Work] = [.shared, .nested3, .nestedSave, .merge, .faults, .memory, .list]

  /// Whether it begins with a store that holds the stops, and not with routes only.
  var needsTemplate: Bool {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .insertEach, .template, .shared, .nested3:
      false
    default: !isBatchInsertion
    }
  }

  /// Whether it inserts by batch requests, without contexts and routes, into a store with a history.
  var isBatchInsertion: Bool {
    switch self {
    case .batchInsert, .batchInsertDictionary, .batchInsertObject: true
    default: false
    }
  }

  /// Whether it changes its store, and so needs a copy of the template.
  var changesStore: Bool {
    switch self {
    case .reimport, .update, .updateEach, .delete, .concurrent, .nestedSave, .merge: true
    default: readers != nil
    }
  }

  /// Whether several threads work at the same time, which a real-time priority would disturb.
  var isConcurrent: Bool { self == .concurrent || readers != nil }

  /// How many threads read beside a writer; nil for works that do not count them.
  var readers: Int? {
    switch self {
    case .oneReader: 1
    case .twoReaders: 2
    case .fourReaders: 4
    default: nil
    }
  }

  /// Whether the store ends with exactly the imported stops, which are then compared to the last field.
  var leavesImport: Bool {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .insertEach, .reimport: true
    default: isBatchInsertion
    }
  }

  /// The most that the engine may take of the floor's time on a PostgreSQL server.
  var limitOnServer: Double? {
    switch self {
    case .importBulk, .importInsert: 1.6
    case .fetchAll, .update, .delete: 1.4
    case .fetchPage, .count: 1.1
    case .byID: 1
    default: nil
    }
  }

  /// The most that the engine may take of the floor's time.
  var limit: Double? {
    switch self {
    case .importBulk, .findOrCreate, .importInsert, .reimport, .byID, .update, .delete: 2
    case .fetchAll: 1.6
    case .fetchPage, .count, .oneReader, .twoReaders, .fourReaders: 1.2
    case .traverse: 2.5
    case .batchInsert: 1.15
    default: nil
    }
  }
}

import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation
import MainThreadWatch

/// What the screens show, read from a store's file without objects: the SQL of the same fetches, restricted to the rows and
/// columns that are on screen.
struct ScreenFloor {
  let run: ScreenRun
  let store: ImportStore

  /// - Throws: A Cocoa error for a predicate or a sort that SQL cannot express.
  func figures() throws -> [ScreenFigures] {
    let coordinator = try NSPersistentStoreCoordinator.make(run.work.makeModel(), on: store)
    defer { try? coordinator.removeStores() }
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try run.screens.map { screen in
      let query = try ScreenQuery(screen, run.layout)
      let blocks = try context.performAndWait { try _blocks(query, context) }
      return try _measure(blocks.blocks, screen, found: blocks.found)
    }
  }

  /// What a block reads.
  private enum Piece {
    /// All rows of a statement, or the first ones.
    case rows(SQLStatement, most: Int?)
    /// More rows of the statement before.
    case more(Int)
  }

  private func _measure(_ blocks: [[Piece]], _ screen: Screen, found: Int) throws -> ScreenFigures {
    let reader = try StoreReader(path: store.url.path, model: run.layout.schema)
    defer { reader.close() }
    var times: [Double] = []
    var open: Statement?
    for block in blocks {
      let begin = MonotonicClock.now
      for piece in block {
        switch piece {
        case .rows(let sql, let most):
          let statement = try _prepared(sql, reader.connection)
          try _read(statement, most)
          if most != nil { open = statement }
        case .more(let count): if let open { try _read(open, count) }
        }
      }
      times.append(Double(MonotonicClock.now - begin) / 1e6)
    }
    let statements = blocks.joined().count { if case .rows = $0 { true } else { false } }
    return ScreenFigures(
      name: screen.name,
      firstMilliseconds: screen.kind == .detail ? Statistics.median(times) : times.first ?? 0,
      againMilliseconds: 0, busyMilliseconds: [], longestMilliseconds: times.max() ?? 0,
      totalMilliseconds: times.reduce(0, +), statements: statements, faults: 0, found: found, order: [])
  }

  private func _prepared(_ sql: SQLStatement, _ connection: Connection) throws -> Statement {
    let statement = try connection.prepare(sql.sql)
    for (index, binding) in sql.bindings.enumerated() {
      let place = Int32(index + 1)
      switch binding {
      case .values(let members): statement.bind(ValueArray(members.map(\._bound)), at: place)
      default: statement.bind(binding._bound, at: place)
      }
    }
    return statement
  }

  /// Steps through rows, and reads each column.
  private func _read(_ statement: Statement, _ most: Int?) throws {
    var count = 0
    while count < most ?? .max, try statement.step() {
      count += 1
      for column in 0..<Int32(statement.columnCount) { _ = statement.string(column) }
    }
  }

  // MARK: Statements

  /// What each block reads, and what the screen finds.
  private func _blocks(
    _ query: ScreenQuery, _ context: NSManagedObjectContext
  ) throws -> (blocks: [[Piece]], found: Int) {
    let screen = query.screen
    let all: NSFetchRequest<NSManagedObject> = query.request()
    switch screen.kind {
    case .badge:
      let request: NSFetchRequest<NSNumber> = query.request()
      request.resultType = .countResultType
      return ([_all(try context.sqlStatements(for: request))], try context.count(for: all))
    case .list:
      let rows = try context.sqlStatements(for: _rows(query, limit: screen.rows * screen.pages))
      var blocks = [rows.map { Piece.rows($0, most: screen.rows) }]
      blocks += (1..<screen.pages).map { _ in [.more(screen.rows)] }
      for text in screen.search?.texts ?? [] {
        blocks.append(
          _all(try context.sqlStatements(for: _rows(query, limit: screen.rows, searching: text))))
      }
      return (blocks, try context.count(for: all))
    case .detail:
      let request: NSFetchRequest<NSManagedObjectID> = query.request()
      request.resultType = .managedObjectIDResultType
      let ids = try context.fetch(request)
      let count = min(screen.objects, ids.count)
      let blocks = try (0..<count).map { _all(try _object(ids[$0 * ids.count / count], query, context)) }
      return (blocks, count)
    }
  }

  private func _all(_ statements: [SQLStatement]) -> [Piece] { statements.map { .rows($0, most: nil) } }

  private func _rows(
    _ query: ScreenQuery, limit: Int, searching text: String? = nil
  ) -> NSFetchRequest<NSDictionary> {
    let request: NSFetchRequest<NSDictionary> = query.request(searching: text)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = _columns(query.shown.values, of: query.entity)
    request.fetchLimit = limit
    return request
  }

  /// Statements for an object: its values with those of its to-ones, and a statement for each to-many.
  private func _object(
    _ id: NSManagedObjectID, _ query: ScreenQuery, _ context: NSManagedObjectContext
  ) throws -> [SQLStatement] {
    let own = NSFetchRequest<NSDictionary>(entityName: query.screen.entity)
    own.predicate = NSPredicate(format: "SELF == %@", id)
    own.resultType = .dictionaryResultType
    own.propertiesToFetch = _columns(query.shown.values, of: query.entity)
    var statements = try context.sqlStatements(for: own)
    for (slot, paths) in Dictionary(grouping: query.shown.members, by: \.toMany).sorted(by: {
      $0.key < $1.key
    }) {
      guard let relationship = query.entity.slots[slot].relationship, let inverse = relationship.inverseSlot
      else { continue }
      let destination = run.layout.layout(numbered: relationship.destination)
      guard !destination.slots[inverse].isHidden else { continue }
      let request = NSFetchRequest<NSDictionary>(entityName: destination.entityName)
      request.predicate = NSPredicate(
        format: destination.slots[inverse].isToMany ? "ANY %K == %@" : "%K == %@",
        destination.slots[inverse].name, id)
      request.resultType = .dictionaryResultType
      request.propertiesToFetch = _columns(paths.map(\.path).filter { !$0.isEmpty }, of: destination)
      statements += try context.sqlStatements(for: request)
    }
    return statements
  }

  /// The columns of some key paths; of none, an attribute's.
  private func _columns(_ paths: [String], of entity: PropertyLayout) -> [Any] {
    let read = paths.filter { _isColumn($0, entity) }
    return read.isEmpty
      ? [entity.slots.first { $0.isAttribute && $0.isImported }?.name].compactMap(\.self) : read
  }

  private func _isColumn(_ path: String, _ entity: PropertyLayout) -> Bool {
    var current = entity
    for name in path.split(separator: ".").map(String.init) {
      guard let slot = current.slot(named: name), !current.slots[slot].isTransient else { return false }
      guard let relationship = current.slots[slot].relationship else { return true }
      if relationship.isToMany { return false }
      current = run.layout.layout(numbered: relationship.destination)
    }
    return false
  }
}

extension SQLBinding {
  fileprivate var _bound: Binding {
    switch self {
    case .null, .values: .null
    case .integer(let number): .int(number)
    case .real(let number): .double(number)
    case .text(let text): .text(text)
    case .blob(let data): .blob([UInt8](data))
    }
  }
}

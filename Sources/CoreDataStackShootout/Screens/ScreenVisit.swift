import CoreData
import Foundation

/// A screen that is opened in a context and used, block by block, as an app does on main. Used on the context's queue.
final class ScreenVisit {
  private let _query: ScreenQuery
  private let _context: NSManagedObjectContext
  private let _paths: [[String]]
  private var _rows: [NSManagedObject] = []
  private var _ids: [NSManagedObjectID] = []
  /// The objects that the screen has found: of a list, a detail's objects, or the badge's number.
  private(set) var found = 0
  /// The values read.
  private(set) var values = 0

  init(_ query: ScreenQuery, _ context: NSManagedObjectContext) {
    (_query, _context) = (query, context)
    _paths = query.screen.shows.map { $0.split(separator: ".").map(String.init) }
  }

  private var _screen: Screen { _query.screen }

  /// Finds what a detail screen opens, which is no part of it: objects spread over all.
  func prepare() throws {
    guard _screen.kind == .detail else { return }
    let request: NSFetchRequest<NSManagedObjectID> = _query.request()
    request.resultType = .managedObjectIDResultType
    let all = try _context.fetch(request)
    let count = min(_screen.objects, all.count)
    _ids = (0..<count).map { all[$0 * all.count / count] }
    found = count
  }

  /// The number of blocks that the screen runs on main.
  var blockCount: Int {
    switch _screen.kind {
    case .list: _screen.pages + (_screen.search?.texts.count ?? 0)
    case .detail: _ids.count
    case .badge: 1
    }
  }

  /// Opens the screen again: its first rows, the next object, or the number.
  func open(_ round: Int) throws {
    guard blockCount > 0 else { return }
    try run(_screen.kind == .detail ? round % _ids.count : 0)
  }

  /// Runs one of the blocks.
  func run(_ block: Int) throws {
    switch _screen.kind {
    case .list where block == 0: try _open()
    case .list where block < _screen.pages: _show(page: block)
    case .list: try _find(_screen.search?.texts[block - _screen.pages] ?? "")
    case .detail: _show(_context.object(with: _ids[block]))
    case .badge:
      let request: NSFetchRequest<NSManagedObject> = _query.request()
      found = try _context.count(for: request)
    }
  }

  /// The values by which the first rows are sorted, which are the same in whatever order equal ones come.
  func order() -> [String] {
    let keys = _screen.sort.map { $0.drop { $0 == "-" }.split(separator: ".").map(String.init) }
    return _rows.prefix(_screen.rows).flatMap { row in
      keys.map { path in
        let value = path.reduce(row as Any?) { ($0 as? NSManagedObject)?.value(forKey: $1) }
        return value.map { "\($0)" } ?? "-"
      }
    }
  }

  private func _open() throws {
    let request: NSFetchRequest<NSManagedObject> = _query.request()
    request.fetchBatchSize = _screen.batch
    if !_screen.prefetch.isEmpty { request.relationshipKeyPathsForPrefetching = _screen.prefetch }
    _rows = try _context.fetch(request)
    found = _rows.count
    _show(page: 0)
  }

  private func _show(page: Int) {
    let first = page * _screen.rows
    guard first < _rows.count else { return }
    for row in first..<min(first + _screen.rows, _rows.count) { _show(_rows[row]) }
  }

  private func _find(_ text: String) throws {
    let request: NSFetchRequest<NSManagedObject> = _query.request(searching: text)
    request.fetchBatchSize = _screen.batch
    if !_screen.prefetch.isEmpty { request.relationshipKeyPathsForPrefetching = _screen.prefetch }
    for object in try _context.fetch(request).prefix(_screen.rows) { _show(object) }
  }

  private func _show(_ object: NSManagedObject) {
    for path in _paths { _show(object, path[...]) }
  }

  private func _show(_ object: NSManagedObject, _ path: ArraySlice<String>) {
    guard let name = path.first else { return }
    let rest = path.dropFirst()
    switch object.value(forKey: name) {
    case let next as NSManagedObject: _show(next, rest)
    case let members as NSOrderedSet: _show(members, rest)
    case let members as NSSet: _show(members, rest)
    case _?: values += 1
    case nil: break
    }
  }

  private func _show(_ members: some Sequence<Any>, _ path: ArraySlice<String>) {
    for case let member as NSManagedObject in members {
      if path.isEmpty { values += 1 } else { _show(member, path) }
    }
  }
}

import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Dictionaries of a fetch, read in batches as they are accessed.
///
/// As in Core Data, this requires `objectID` among the properties to fetch: all IDs are read at once, which
/// fixes `count` and the order at the time of the fetch, and each batch reads its other columns in one
/// statement. Reading a batch releases the previous one. Without `objectID`, with groups or with distinct
/// results, everything is read at once. A row deleted since has only its object ID. Not for concurrent use.
/// Not in Core Data, whose batched NSArray is traversed entirely when Swift bridges it to an array.
///
/// ```swift
/// let request = NSFetchRequest<NSDictionary>(entityName: "Book")
/// let identity = NSExpressionDescription()
/// identity.name = "objectID"
/// identity.expression = NSExpression.expressionForEvaluatedObject()
/// identity.resultType = .objectID
/// request.propertiesToFetch = ["title", identity]
/// for row in try context.fetchBatched(request) { print(row["title"] ?? "untitled") }
/// ```
public struct BatchedDictionaryResults: RandomAccessCollection {
  private enum _Source {
    case whole([NSDictionary])
    case batches(DictionaryBatches)
  }

  private let _source: _Source

  init(whole dictionaries: [NSDictionary]) { _source = .whole(dictionaries) }

  init(_ batches: DictionaryBatches) { _source = .batches(batches) }

  public var startIndex: Int { 0 }

  public var endIndex: Int {
    switch _source {
    case .whole(let dictionaries): dictionaries.count
    case .batches(let batches): batches.keys.count
    }
  }

  /// The dictionary at a position. If its row is damaged, it has only its object ID. If the store cannot be
  /// read, it has only its object ID and is read again at the next access, or the process traps: see
  /// ``ReadFailurePolicy``.
  public subscript(position: Int) -> NSDictionary {
    precondition(indices.contains(position), "index \(position) is outside 0..<\(count)")
    switch _source {
    case .whole(let dictionaries): return dictionaries[position]
    case .batches(let batches): return batches.dictionary(at: position)
    }
  }
}

/// Reads the dictionaries of known rows, one batch at a time.
final class DictionaryBatches {
  let keys: [ObjectKey]
  private let _size: Int
  private let _columns: DictionaryColumns
  private let _coordinator: NSPersistentStoreCoordinator
  private let _context: NSManagedObjectContext
  private let _stores: [NSPersistentStore]?
  /// The state of the stores to read; nil for the latest.
  private let _generation: StoreGeneration?
  /// Names of the columns that contain the object itself.
  private let _identityNames: [String]
  /// The batch accessed last.
  private var _current: (number: Int, found: [IdentityKey: NSDictionary])?

  init(
    _ keys: [ObjectKey], size: Int, _ columns: DictionaryColumns, _ coordinator: NSPersistentStoreCoordinator,
    in stores: [NSPersistentStore]?, at generation: StoreGeneration?, for context: NSManagedObjectContext
  ) {
    _context = context
    self.keys = keys
    _size = size
    _columns = columns
    _coordinator = coordinator
    _stores = stores
    _generation = generation
    _identityNames = columns.plan.columns.filter { $0.expression == .evaluatedObject }.map(\.name)
  }

  func dictionary(at place: Int) -> NSDictionary {
    let number = place / _size
    if _current?.number != number {
      _current = nil
      do {
        _current = (number, try _readable(keys[number * _size..<min((number + 1) * _size, keys.count)]))
      } catch {
        _context.failedReads.fail(
          _context.registry.object(for: keys[place]), "load a batch of dictionaries", error)
      }
    }
    if let dictionary = _current?.found[IdentityKey(keys[place])] { return dictionary }
    let id = NSManagedObjectID(keys[place])
    return NSDictionary(
      objects: _identityNames.map { _ in id }, forKeys: _identityNames.map { $0 as NSString })
  }

  /// Reads a batch without the rows that are damaged, if any are.
  private func _readable(_ keys: ArraySlice<ObjectKey>) throws -> [IdentityKey: NSDictionary] {
    do {
      return try _read(keys)
    } catch  where StoreErrors.isDamage(error) {
      var found: [IdentityKey: NSDictionary] = [:]
      for index in keys.indices {
        do {
          try found.merge(_read(keys[index...index])) { first, _ in first }
        } catch  where StoreErrors.isDamage(error) {
          _context.failedReads.fail(_context.registry.object(for: keys[index]), "load a dictionary", error)
        }
      }
      return found
    }
  }

  private func _read(_ keys: ArraySlice<ObjectKey>) throws -> [IdentityKey: NSDictionary] {
    var plan = _columns.plan
    let members = keys.map { PredicateValue.object(PredicateObject(NSManagedObjectID($0))) }
    plan.rows.predicate = .comparison(.init(.evaluatedObject, .in, .constant(.collection(members))))
    plan.rows.sort = []
    plan.rows.limit = 0
    plan.rows.offset = 0
    let place = plan.columns.firstIndex { $0.expression == .evaluatedObject }!
    var found: [IdentityKey: NSDictionary] = [:]
    for values in try _coordinator.table(plan, in: _stores, at: _generation) {
      guard let key = values[place].key else { continue }
      found[IdentityKey(key)] = try _columns.dictionary(for: values)
    }
    return found
  }
}

extension DictionaryPlan {
  /// Whether dictionaries can be read by object ID.
  fileprivate var _isReadByObject: Bool {
    !isGrouped && !isDistinct && columns.contains { $0.expression == .evaluatedObject }
      && rows.sort.allSatisfy { rows.layout.slot(named: $0.keyPath[0]) != nil }
  }
}

extension NSManagedObjectContext {
  /// Fetches dictionaries that are read in batches.
  ///
  /// The batch size is the request's `fetchBatchSize`, or 100 if that is 0. The request's result type need
  /// not be set. Not in Core Data.
  ///
  /// - Throws: As `fetch(_:)`.
  public final func fetchBatched(_ request: NSFetchRequest<NSDictionary>) throws -> BatchedDictionaryResults {
    checkQueue()
    let rows = AnyFetchRequest()
    rows.copySettings(from: request)
    rows.resultType = .dictionaryResultType
    var plan = try FetchPass(self).plan(for: rows)
    guard let coordinator = persistentStoreCoordinator, let model = coordinator.frozen else {
      return BatchedDictionaryResults(whole: [])
    }
    let columns = try DictionaryColumns(rows, plan, model)
    guard columns.plan._isReadByObject else {
      return BatchedDictionaryResults(whole: try FetchPass(self).dictionaries(rows))
    }
    plan.content = .identity
    let generation = readGeneration
    let found = try coordinator.fetch(plan, in: rows.affectedStores, at: generation)
    let size = rows.fetchBatchSize > 0 ? rows.fetchBatchSize : 100
    return BatchedDictionaryResults(
      DictionaryBatches(
        found.map(\.key), size: size, columns, coordinator, in: rows.affectedStores, at: generation, for: self
      ))
  }
}

import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// A cache on disk of a controller's results for the next run of the program: order, sort keys, sections.
///
/// Valid only if entity, version hash, predicate, order, section key path and the stored objects are
/// unchanged; the file's contents are verified before use. If anything is wrong, the controller fetches.
struct SectionCache {
  struct Entry: Equatable {
    let entityNumber: Int
    let reference: Int64
    let keys: SortKeys

    static func == (left: Entry, right: Entry) -> Bool {
      left.entityNumber == right.entityNumber && left.reference == right.reference
    }
  }

  struct Contents {
    var entries: [Entry] = []
    var runs: [FetchedListing.Run] = []
  }

  let engine: any StoreEngine
  private let _fingerprint: String
  /// Entities whose objects affect the result.
  private let _entityNumbers: [Int]
  private let _family: [Int]
  /// Number of sort keys per object.
  private let _keyCount: Int

  /// Nil if the fetch cannot be cached: several stores or one without a file, or a predicate that has a
  /// meaning only in this process.
  init?(_ reader: ListingReader) {
    let (request, plan, context) = (reader.request, reader.plan, reader.context)
    guard let coordinator = context.persistentStoreCoordinator, let model = coordinator.frozen else {
      return nil
    }
    let engines = coordinator.engines(for: request.affectedStores)
    guard engines.count == 1, let identifier = (try? engines[0].metadata)?[NSStoreUUIDKey] as? String else {
      return nil
    }
    guard let predicate = Self._text(of: plan.predicate) else { return nil }
    engine = engines[0]
    _family = plan.layout.family
    _keyCount = plan.sort.count
    let layouts = model.layout.layouts
    let isOwn = Self._looksNoFurther(than: plan, reader.keys, reader.sectionNameKeyPath)
    _entityNumbers = isOwn ? [plan.layout.entityNumber] : layouts.map(\.entityNumber)
    let sort = plan.sort.map {
      "\($0.keyPath.joined(separator: "."))\($0.ascending ? "+" : "-")\($0.comparison)"
    }
    let hashes = isOwn ? [model.entities[plan.layout.entityNumber - 1]] : model.entities
    _fingerprint = [
      identifier, plan.layout.entityName, hashes.map { $0.shape.versionHash.base64EncodedString() }.joined(),
      predicate, sort.joined(separator: ","), reader.sectionNameKeyPath ?? "no sections",
      "\(plan.includesSubentities) \(plan.limit) \(plan.offset)", Locale.current.identifier,
    ].joined(separator: "\n")
  }

  /// Returns a fingerprint of the stored objects; nil for a store without one.
  func mark() throws -> String? { try StoreErrors.translating { try engine.mark(of: _entityNumbers) } }

  /// Whether only the entity's own rows determine the results, their order and their sections.
  private static func _looksNoFurther(than plan: FetchPlan, _ keys: FetchedKeys, _ sectionPath: String?)
    -> Bool
  {
    guard keys.storedSlots != nil else { return false }
    var isOwn = true
    plan.predicate?.forEachExpression { expression in
      switch expression {
      case .keyPath(let path):
        let slot = path.count == 1 ? plan.layout.slot(named: path[0]) : nil
        if slot.map({ plan.layout.slots[$0].isToMany }) ?? true { isOwn = false }
      case .keyPathOf, .subquery, .anyKey, .function: isOwn = false
      default: break
      }
    }
    return isOwn
  }

  /// Returns the predicate as a text with the same meaning in another run; nil if there is none.
  private static func _text(of predicate: PredicateTree?) -> String? {
    guard let predicate else { return "all" }
    struct UnencodableValue: Error {}
    func spoken(_ value: PredicateValue) throws -> PredicateValue {
      switch value {
      case .object(let object):
        guard let id = object.objectID, !id.isTemporary else { throw UnencodableValue() }
        return .string(id.uriRepresentation().absoluteString)
      case .collection(let members): return .collection(try members.map(spoken))
      case .dictionary: throw UnencodableValue()
      default: return value
      }
    }
    var isTimeless = true
    predicate.forEachExpression { expression in
      switch expression {
      case .function(.now, _), .function(.random, _), .function(.randomBelow, _): isTimeless = false
      case .customFunction, .block: isTimeless = false
      default: break
      }
    }
    predicate.forEachPredicate { if case .block = $0 { isTimeless = false } }
    guard isTimeless, let text = try? predicate.mapConstants(spoken) else { return nil }
    return PredicatePrinter.text(of: text)
  }

  // MARK: The file

  /// Reads the cache of this name; nil without a valid one.
  func read(named name: String, _ mark: String?) -> Contents? {
    guard let mark, let file = try? Data(contentsOf: SectionCacheFiles.url(for: name)) else { return nil }
    return _contents(of: file, mark)
  }

  /// Writes the cache of this name. Failures are ignored: the next run fetches.
  func write(_ listing: FetchedListing, named name: String, _ mark: String?) {
    guard let mark, let data = _data(listing, mark) else { return }
    SectionCacheFiles.write(data, named: name)
  }

  private static let _format = "fetched results 1"

  private func _data(_ listing: FetchedListing, _ mark: String) -> Data? {
    var writer = CacheWriter()
    for text in [Self._format, _fingerprint, mark] { writer.write(text) }
    writer.write(listing.runs.count)
    for run in listing.runs {
      writer.write(run.name)
      writer.write(run.count)
    }
    writer.write(listing.entries.count)
    for entry in listing.entries {
      guard let key = entry.object._key else { return nil }
      writer.write(key.space.layout.entityNumber)
      writer.write(Int(key.reference))
      let values = entry.keys.values
      writer.write(values.count)
      for value in values { guard writer.write(value) else { return nil } }
    }
    return writer.sealed()
  }

  private func _contents(of file: Data, _ mark: String) -> Contents? {
    guard var reader = CacheReader(sealed: file) else { return nil }
    do {
      for text in [Self._format, _fingerprint, mark] { guard try reader.text() == text else { return nil } }
      var contents = Contents()
      var total = 0
      for _ in 0..<(try reader.count()) {
        let run = FetchedListing.Run(name: try reader.text(), count: try reader.count())
        total += run.count
        contents.runs.append(run)
      }
      guard try reader.count() == total else { return nil }
      contents.entries.reserveCapacity(total)
      for _ in 0..<total {
        let number = try reader.integer()
        guard _family.contains(number), number <= engine.spaces.count else { return nil }
        let reference = Int64(try reader.integer())
        let keys = SortKeys(try (0..<(try reader.count())).map { _ in try reader.value() })
        guard keys.count == _keyCount else { return nil }
        contents.entries.append(Entry(entityNumber: number, reference: reference, keys: keys))
      }
      return reader.isAtEnd ? contents : nil
    } catch {
      return nil
    }
  }
}

import CoreData
import CoreDataSQLiteBinding
import Foundation

/// The edits of a round trip, and the cells that they may change in the file.
struct TrialEdit {
  struct RowName: Hashable {
    let table: String
    let key: Int64
  }

  private(set) var changedRow = RowName(table: "", key: 0)
  private(set) var changedColumns: Set<String> = []
  /// New objects by table, and by the name of the root entity.
  private(set) var insertedTables: [String: Int] = [:]
  private(set) var insertedRoots: [String: Int] = [:]
  var inserted: Int { insertedRoots.values.reduce(0, +) }
  private(set) var deletedRows: Set<RowName> = []
  private var _touched: Set<RowName> = []
  private var _keyColumns: [String: Set<String>] = [:]
  private var _computed: [String: Set<String>] = [:]

  /// Columns that may change in a row: the assigned one in the changed row; relationships and the version in
  /// rows that lost a destination or were touched, also if the destination did not point back.
  func allowedColumns(of row: RowName, _ cells: TableDump.Cells) -> Set<String> {
    var columns = _computed[row.table] ?? []
    if row == changedRow { columns.formUnion(changedColumns) }
    if _touched.contains(row) { columns.formUnion(_keyColumns[row.table] ?? []) }
    let keys = _keyColumns[row.table] ?? []
    let isCut = keys.contains { column in deletedRows.contains { cells[column] == .int($0.key) } }
    if isCut { columns.formUnion(keys) }
    if isCut || row == changedRow || _touched.contains(row) { columns.insert("Z_OPT") }
    return columns
  }

  /// Columns of derived attributes, which triggers write.
  func computedColumns(of table: String) -> Set<String> { _computed[table] ?? [] }

  /// Changes one object, inserts one, deletes one and saves. Some deletions cannot be saved, or affect other
  /// objects: the first that can be saved alone is used.
  static func perform(
    in context: NSManagedObjectContext, _ model: NSManagedObjectModel, _ store: NSPersistentStore
  ) throws -> TrialEdit {
    var failure: (any Error)?
    for attempt in 0..<60 {
      do {
        guard let edit = try _attempt(attempt, in: context, model, store) else { break }
        return edit
      } catch {
        failure = error
        context.rollback()
      }
    }
    throw failure ?? TrialFailure("no object can be deleted")
  }

  /// The edits with the numbered object to be deleted; nil when there are not as many.
  private static func _attempt(
    _ number: Int, in context: NSManagedObjectContext, _ model: NSManagedObjectModel,
    _ store: NSPersistentStore
  ) throws -> TrialEdit? {
    var edit = TrialEdit()
    edit._readPlaces(model, store)
    let candidates = try _population(context, model)
    var made: NSManagedObject?
    for candidate in candidates where made == nil { made = TrialObjects.make(candidate.entity, in: context) }
    guard made != nil else { throw TrialFailure("no entity takes a new object") }
    // Includes changes that it caused.
    context.processPendingChanges()
    for object in context.insertedObjects {
      edit.insertedTables[edit._table(of: object.entity, store), default: 0] += 1
      edit.insertedRoots[_root(object.entity).name ?? "", default: 0] += 1
    }
    guard let (changed, attribute) = _change(candidates) else {
      throw TrialFailure("no object has an attribute to change")
    }
    edit.changedRow = edit._row(of: changed, store)
    if let column = StoredPlace(changed.entity, in: store)?.attributes[attribute] {
      edit.changedColumns = [_plain(column), "Z_OPT"]
    }
    let kept = context.insertedObjects.union([changed])
    let deletable = candidates.flatMap { $0.objects.suffix(3).reversed() }.filter { !kept.contains($0) }
    guard number < deletable.count else { return nil }
    context.delete(deletable[number])
    context.processPendingChanges()
    guard kept.isDisjoint(with: context.deletedObjects) else {
      throw TrialFailure(
        "deleting \(deletable[number].entity.name ?? "?") takes the trial's other objects with it")
    }
    edit.deletedRows = Set(context.deletedObjects.map { edit._row(of: $0, store) })
    edit._touched = Set(context.updatedObjects.map { edit._row(of: $0, store) })
    try context.save()
    return edit
  }

  /// Stored objects by entity, without subentities.
  private static func _population(
    _ context: NSManagedObjectContext, _ model: NSManagedObjectModel
  ) throws -> [(entity: NSEntityDescription, objects: [NSManagedObject])] {
    try model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }.map { entity in
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      request.includesSubentities = false
      request.fetchLimit = 20
      return (entity, try context.fetch(request).filter { !$0.objectID.isTemporaryID })
    }
  }

  /// Assigns to one attribute of one object.
  private static func _change(
    _ candidates: [(entity: NSEntityDescription, objects: [NSManagedObject])]
  ) -> (NSManagedObject, String)? {
    for (entity, objects) in candidates {
      let unique = Set(TrialObjects.uniqueNames(of: entity))
      for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
        guard !attribute.isTransient, !(attribute is NSDerivedAttributeDescription),
          !unique.contains(attribute.name)
        else { continue }
        for object in objects {
          guard let value = TrialObjects.value(for: attribute, unlike: object.value(forKey: attribute.name))
          else { continue }
          object.setValue(value, forKey: attribute.name)
          return (object, attribute.name)
        }
      }
    }
    return nil
  }

  // MARK: Places

  private mutating func _readPlaces(_ model: NSManagedObjectModel, _ store: NSPersistentStore) {
    for entity in model.entities {
      guard let place = StoredPlace(entity, in: store) else { continue }
      let table = Self._plain(place.table)
      for (name, column) in place.attributes
      where entity.attributesByName[name] is NSDerivedAttributeDescription {
        _computed[table, default: []].insert(Self._plain(column))
      }
      for columns in place.toOnes.values {
        let names = [columns.column, columns.entityColumn, columns.orderColumn].compactMap { $0 }
        _keyColumns[table, default: []].formUnion(names.map(Self._plain))
      }
    }
  }

  private func _table(of entity: NSEntityDescription, _ store: NSPersistentStore) -> String {
    Self._plain(StoredPlace(entity, in: store)?.table ?? "")
  }

  private func _row(of object: NSManagedObject, _ store: NSPersistentStore) -> RowName {
    RowName(table: _table(of: object.entity, store), key: StoredKey.of(object))
  }

  private static func _root(_ entity: NSEntityDescription) -> NSEntityDescription {
    var root = entity
    while let parent = root.superentity { root = parent }
    return root
  }

  private static func _plain(_ name: String) -> String { name.replacing("\"", with: "") }
}

/// Why a trial was impossible.
package struct TrialFailure: Error, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

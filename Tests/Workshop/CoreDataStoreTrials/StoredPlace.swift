import CoreData

/// The location of an entity's objects in a SQLite store, for comparisons with SQL.
struct StoredPlace {
  /// `Z_ENT` of the entity's rows.
  let number: Int64
  /// Names here and below are quoted where SQL requires it.
  let table: String
  /// Columns of attributes by name; composites and transient ones have none.
  private(set) var attributes: [String: String] = [:]
  /// Columns with the keys of to-one destinations, by the relationship's name, and their companion columns.
  private(set) var toOnes: [String: StoreTableLayout.ToOneColumns] = [:]
  private(set) var toManys: [String: StoreTableLayout.ToMany] = [:]

  /// Nil for a store that is not a SQLite file, or has no such entity.
  init?(_ entity: NSEntityDescription, in store: NSPersistentStore) {
    guard let anatomy = store.anatomy, let layout = anatomy.layout.layoutsByName[entity.name ?? ""] else {
      return nil
    }
    let table = anatomy.table(of: layout.entityNumber)
    number = Int64(anatomy.storedNumber(of: layout.entityNumber))
    self.table = table.name
    // Siblings may have properties of the same name.
    func isOwn(_ owner: Int) -> Bool {
      anatomy.layout.layout(numbered: owner).family.contains(layout.entityNumber)
    }
    for attribute in table.attributes where isOwn(attribute.owner) {
      attributes[attribute.property] = attribute.column
    }
    for toOne in table.toOnes where isOwn(toOne.owner) && !toOne.isHidden { toOnes[toOne.property] = toOne }
    for (number, slot) in layout.slots.enumerated() where !slot.isHidden {
      if let toMany = anatomy.toMany(number, of: layout.entityNumber) { toManys[slot.name] = toMany }
    }
  }
}

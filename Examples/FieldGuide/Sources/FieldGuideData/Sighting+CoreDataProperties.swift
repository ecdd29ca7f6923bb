public import CoreData
public import Foundation

extension Sighting {
  public class func fetchRequest() -> NSFetchRequest<Sighting> {
    return NSFetchRequest<Sighting>(entityName: "Sighting")
  }

  @NSManaged public var count: Int32
  @NSManaged public var date: Date?
  @NSManaged public var note: String?
  @NSManaged public var place: Place?
  @NSManaged public var species: NSSet?
}

// MARK: Generated accessors for species
extension Sighting {
  @NSManaged public func addToSpecies(_ value: Species)

  @NSManaged public func removeFromSpecies(_ value: Species)

  @NSManaged public func addToSpecies(_ values: NSSet)

  @NSManaged public func removeFromSpecies(_ values: NSSet)
}

extension Sighting: Identifiable {
}

public import CoreData
public import Foundation

extension Place {
  public class func fetchRequest() -> NSFetchRequest<Place> {
    return NSFetchRequest<Place>(entityName: "Place")
  }

  @NSManaged public var name: String?
  @NSManaged public var sightings: NSOrderedSet?
}

// MARK: Generated accessors for sightings
extension Place {
  @NSManaged public func insertIntoSightings(_ value: Sighting, at idx: Int)

  @NSManaged public func removeFromSightings(at idx: Int)

  @NSManaged public func insertIntoSightings(_ values: [Sighting], at indexes: NSIndexSet)

  @NSManaged public func addToSightings(_ value: Sighting)

  @NSManaged public func removeFromSightings(_ value: Sighting)

  @NSManaged public func addToSightings(_ values: NSOrderedSet)

  @NSManaged public func removeFromSightings(_ values: NSOrderedSet)
}

extension Place: Identifiable {
}

public import CoreData
public import Foundation

extension Species {
  public class func fetchRequest() -> NSFetchRequest<Species> {
    return NSFetchRequest<Species>(entityName: "Species")
  }

  @NSManaged public var latin: String?
  @NSManaged public var sightings: NSSet?
}

// MARK: Generated accessors for sightings
extension Species {
  @NSManaged public func addToSightings(_ value: Sighting)

  @NSManaged public func removeFromSightings(_ value: Sighting)

  @NSManaged public func addToSightings(_ values: NSSet)

  @NSManaged public func removeFromSightings(_ values: NSSet)
}

extension Species: Identifiable {
}

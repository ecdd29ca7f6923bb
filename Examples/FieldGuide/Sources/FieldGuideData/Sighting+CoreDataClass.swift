public import CoreData
import Foundation

public class Sighting: NSManagedObject {
}

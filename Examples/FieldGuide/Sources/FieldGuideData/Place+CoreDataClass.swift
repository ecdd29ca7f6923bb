public import CoreData
import Foundation

public class Place: NSManagedObject {
}

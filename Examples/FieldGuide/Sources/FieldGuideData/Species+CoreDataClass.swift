public import CoreData
import Foundation

public class Species: NSManagedObject {
}

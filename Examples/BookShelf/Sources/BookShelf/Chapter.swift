import CoreData

/// The class is ours, its properties come from the model.
public class Chapter: NSManagedObject {
  var heading: String { "Chapter \((book?.chapters?.index(of: self) ?? 0) + 1): \(title ?? "untitled")" }
}

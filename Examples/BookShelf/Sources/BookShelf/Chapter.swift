import CoreData

/// A hand-written class whose properties are generated from the model.
public class Chapter: NSManagedObject {
  var heading: String { "Chapter \((book?.chapters?.index(of: self) ?? 0) + 1): \(title ?? "untitled")" }
}

import CoreData

final class Note: NSManagedObject {
  @NSManaged var heading: String?
  @NSManaged var subtitle: String?
  @NSManaged var body: String?
  @NSManaged var stars: Int32
  @NSManaged var createdAt: Date?
  /// Transient and mandatory: not stored, computed when first displayed.
  @NSManaged var displayTitle: String
  @NSManaged var folder: Folder?
  @NSManaged var tags: Set<Tag>
  @NSManaged var attachments: Set<Attachment>

  @NSManaged func addToTags(_ values: NSSet)

  override func awakeFromFetch() {
    super.awakeFromFetch()
    setPrimitiveValue([heading, subtitle].compactMap { $0 }.joined(separator: ": "), forKey: "displayTitle")
  }
}

final class Folder: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var kind: Int16
  /// Mandatory without a minimum count: may be empty.
  @NSManaged var notes: Set<Note>
}

final class Tag: NSManagedObject {
  @NSManaged var key: String?
  @NSManaged var notes: Set<Note>
}

final class Attachment: NSManagedObject {
  @NSManaged var content: Data?
  @NSManaged var note: Note?
}

import CoreData
import Testing

@testable import CoreDataTesting

/// Objects whose entities require members.
@Suite struct RequiredMemberTests {
  /// Orders have at least so many lines, and lines notes, each of which has one of those before.
  ///
  /// - Parameter isEndless: Whether notes require orders.
  private func _context(lines: Int, isOrdered: Bool = false, isEndless: Bool = false) throws
    -> NSManagedObjectContext
  {
    let (order, line, note) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (order.name, line.name, note.name) = ("Order", "Line", "Note")
    func relate(
      _ one: NSEntityDescription, _ name: String, _ other: NSEntityDescription, _ back: String, least: Int
    ) {
      let (forth, inverse) = (NSRelationshipDescription(), NSRelationshipDescription())
      (forth.name, forth.destinationEntity, forth.maxCount, forth.minCount) = (name, other, 0, least)
      (forth.isOptional, forth.isOrdered) = (least == 0, isOrdered)
      (inverse.name, inverse.destinationEntity, inverse.maxCount) = (back, one, 1)
      inverse.isOptional = true
      (forth.inverseRelationship, inverse.inverseRelationship) = (inverse, forth)
      one.properties.append(forth)
      other.properties.append(inverse)
    }
    relate(order, "lines", line, "order", least: lines)
    relate(line, "notes", note, "line", least: 1)
    relate(note, "orders", order, "note", least: isEndless ? 1 : 0)
    let model = NSManagedObjectModel()
    model.entities = [order, line, note]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private func _make(
    _ context: NSManagedObjectContext, _ body: (NSManagedObject) throws -> Void = { _ in }
  ) throws -> NSManagedObject {
    let entity = context.persistentStoreCoordinator!.managedObjectModel.entitiesByName["Order"]!
    return try ObjectMaker(context, count: { _ in 1 }).make(entity, body)
  }

  private func _counts(_ context: NSManagedObjectContext) throws -> [Int] {
    try ["Order", "Line", "Note"].map {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: $0))
    }
  }

  @Test(arguments: [false, true]) func `as many are made as it has at least, and what they require`(
    isOrdered: Bool
  ) throws {
    let context = try _context(lines: 3, isOrdered: isOrdered)
    try context.performAndWait {
      _ = try _make(context)
      try #expect(_counts(context) == [1, 3, 3])
      try context.save()
    }
  }

  @Test func `members that the closure gives count`() throws {
    let context = try _context(lines: 3)
    try context.performAndWait {
      _ = try _make(context) { order in
        let line = NSEntityDescription.insertNewObject(forEntityName: "Line", into: context)
        let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        line.mutableSetValue(forKey: "notes").add(note)
        order.mutableSetValue(forKey: "lines").add(line)
      }
      try #expect(_counts(context) == [1, 3, 3])
    }
  }

  @Test func `members that require each other without end are an error, and nothing stays`() throws {
    let context = try _context(lines: 1, isEndless: true)
    context.performAndWait {
      let error = #expect(throws: TestStoreError.self) { _ = try _make(context) }
      #expect(error?.description.contains("without end") == true)
      context.processPendingChanges()
      #expect(context.insertedObjects.isEmpty)
    }
  }
}

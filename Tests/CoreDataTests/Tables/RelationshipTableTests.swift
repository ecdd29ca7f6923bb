import CoreData
import Foundation
import Testing

/// One kind of relationship in one place.
private struct RelationshipCase: Sendable, CustomTestStringConvertible {
  let form: RelationshipForm
  let place: TablePlace

  static let all = TablePlace.all.flatMap { place in
    RelationshipForm.all.map { RelationshipCase(form: $0, place: place) }
  }

  var testDescription: String { "\(form.testDescription), \(place.testDescription)" }
  var texts: [String] { form.values.map(form.text) }
}

/// Each kind of relationship, however it is read and written, through what a context does with links, in each kind of
/// store.
@Suite struct RelationshipTableTests {
  /// A stack with an owner and three destinations, unsaved.
  private func _stack(_ test: RelationshipCase) throws -> TableStack {
    let stack = try TableStack(test.place, model: RelationshipForm.model())
    stack.context.performAndWait {
      stack.context.insert("Owner", ["name": "o"])
      for name in ["a", "b", "c"] { stack.context.insert(test.form.destination, ["name": name]) }
    }
    return stack
  }

  private func _owner(_ context: NSManagedObjectContext) throws -> NSManagedObject {
    try #require(try context.all("Owner", where: NSPredicate(format: "name == 'o'")).first)
  }

  private func _set(
    _ test: RelationshipCase, _ access: RelationshipAccess, _ number: Int, in context: NSManagedObjectContext
  ) throws {
    let members = try test.form.values[number].map { name in
      try #require(
        try context.all(test.form.destination, where: NSPredicate(format: "name == %@", name)).first)
    }
    access.set(try _owner(context), test.form.property, members)
  }

  /// The members' names as all ways to read them give them, which must agree with each other and the inverse.
  private func _text(_ test: RelationshipCase, in context: NSManagedObjectContext) throws -> String {
    let owner = try _owner(context)
    let texts = RelationshipAccess.all(for: test.form).map { access in
      test.form.text(access.members(owner, test.form.property).map { $0.text("name") ?? "-" })
    }
    #expect(Set(texts).count == 1, "\(texts)")
    if let inverse = test.form.inverse {
      let others = try context.all(test.form.destination, where: NSPredicate(format: "name != 'o'"))
      let linked = others.filter { other in
        switch inverse {
        case .one: other.object(test.form.opposite) === owner
        case .many: other.objects(test.form.opposite).contains(owner)
        case .ordered: (other.value(forKey: test.form.opposite) as? NSOrderedSet)?.contains(owner) == true
        }
      }
      #expect(
        linked.compactMap { $0.text("name") }.sorted()
          == texts[0].split(separator: " ").map(String.init).sorted())
    }
    return texts[0]
  }

  @Test(arguments: RelationshipCase.all)
  fileprivate func `links are shown at both ends, saved and read again`(_ test: RelationshipCase) throws {
    let stack = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      try #expect(_text(test, in: context) == "")
      for access in RelationshipAccess.all(for: test.form) {
        for number in [0, 1, 0, 2] {
          try _set(test, access, number, in: context)
          let expected = test.texts[number]
          try #expect(_text(test, in: context) == expected, "\(access.name)")
          try stack.save()
          try #expect(_text(test, in: context) == expected, "\(access.name)")
          try #expect(stack.elsewhere { try _text(test, in: $0) } == expected, "\(access.name)")
          context.refreshAllObjects()
          try #expect(_text(test, in: context) == expected, "\(access.name)")
        }
        try _set(test, access, 1, in: context)
        try stack.save()
        try #expect(stack.reopened { try _text(test, in: $0) } == test.texts[1], "\(access.name)")
      }
    }
  }

  @Test(arguments: RelationshipCase.all)
  fileprivate func `a changed link is rolled back, and undone and done again`(
    _ test: RelationshipCase
  ) throws {
    let stack = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      let accesses = RelationshipAccess.all(for: test.form)
      try _set(test, accesses[0], 0, in: context)
      try stack.save()
      let (first, second) = (test.texts[0], test.texts[1])
      for access in accesses {
        try _set(test, access, 1, in: context)
        try #expect(_text(test, in: context) == second, "\(access.name)")
        try #expect(_owner(context).changedValues().keys.contains(test.form.property))
        context.rollback()
        try #expect(_text(test, in: context) == first, "\(access.name)")
        #expect(!context.hasChanges)

        let undo = UndoManager()
        undo.groupsByEvent = false
        context.undoManager = undo
        undo.beginUndoGrouping()
        try _set(test, access, 1, in: context)
        context.processPendingChanges()
        undo.endUndoGrouping()
        undo.undo()
        try #expect(_text(test, in: context) == first, "\(access.name)")
        undo.redo()
        try #expect(_text(test, in: context) == second, "\(access.name)")
        context.undoManager = nil
        context.rollback()
        try #expect(_text(test, in: context) == first, "\(access.name)")
      }
      try stack.save()
      try #expect(stack.reopened { try _text(test, in: $0) } == first)
    }
  }

  @Test(arguments: RelationshipCase.all)
  fileprivate func `a child's links reach its parent with its save, and the store with the parent's`(
    _ test: RelationshipCase
  ) throws {
    let stack = try _stack(test)
    let context = stack.context
    let accesses = RelationshipAccess.all(for: test.form)
    try context.performAndWait {
      try _set(test, accesses[0], 0, in: context)
      try stack.save()
    }
    let (first, second) = (test.texts[0], test.texts[1])
    for access in accesses {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        try #expect(_text(test, in: child) == first, "\(access.name)")
        try _set(test, access, 1, in: child)
        try #expect(_text(test, in: child) == second, "\(access.name)")
        try #expect(context.performAndWait { try _text(test, in: context) } == first, "\(access.name)")
        try child.save()
      }
      try context.performAndWait {
        try #expect(_text(test, in: context) == second, "\(access.name)")
        try #expect(stack.elsewhere { try _text(test, in: $0) } == first, "\(access.name)")
        try stack.save()
        try #expect(stack.elsewhere { try _text(test, in: $0) } == second, "\(access.name)")
        try _set(test, accesses[0], 0, in: context)
        try stack.save()
      }
    }
  }

  @Test(arguments: RelationshipCase.all)
  fileprivate func `a deleted destination leaves its owner, in other contexts once merged`(
    _ test: RelationshipCase
  ) throws {
    // Nothing tells a store who leads to an object without an inverse.
    guard test.form.inverse != nil else { return }
    let stack = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      try _set(test, RelationshipAccess.all(for: test.form)[0], 0, in: context)
      try stack.save()
      let rest = test.form.text(Array(test.form.values[0].filter { $0 != "a" }))
      let deleted = try #require(
        try context.all(test.form.destination, where: NSPredicate(format: "name == 'a'")).first)
      context.delete(deleted)
      try #expect(_text(test, in: context) == rest)
      context.rollback()
      try #expect(_text(test, in: context) == test.texts[0])
      context.delete(deleted)
      try stack.save()
      try #expect(_text(test, in: context) == rest)
      try #expect(stack.elsewhere { try _text(test, in: $0) } == rest)
      try #expect(stack.reopened { try _text(test, in: $0) } == rest)
    }
  }
}

import CoreData
import Foundation
import Testing

/// One attribute of the table in one place.
private struct AttributeCase: Sendable, CustomTestStringConvertible {
  let form: AttributeForm
  let presence: AttributePresence
  let place: TablePlace

  /// What a default is does not depend on how far away the store is: one presence of each form in nested contexts.
  static let all = TablePlace.all.flatMap { place in
    AttributeForm.all.flatMap { form in
      AttributePresence.allCases.filter { $0 == .optional || !place.isNested }.map {
        AttributeCase(form: form, presence: $0, place: place)
      }
    }
  }

  var testDescription: String { "\(form.name), \(presence), \(place.testDescription)" }
  var property: String { presence.property(form) }

  /// The value of a new object, as text.
  var initial: String {
    presence == .optional || form.type == .transformableAttributeType ? "nil" : form.texts[0]
  }
}

/// Each type of attribute, however it is read and written, through what a context does with values, in each kind of
/// store.
@Suite struct AttributeTableTests {
  private static let _model = UncheckedModel(AttributeTable.model())

  private struct UncheckedModel: @unchecked Sendable {
    // Unchecked: a model does not change once a coordinator has it.
    let model: NSManagedObjectModel
    init(_ model: NSManagedObjectModel) { self.model = model }
  }

  /// A stack with one row, whose mandatory attributes without default have values.
  private func _stack(_ test: AttributeCase) throws -> (TableStack, NSManagedObject) {
    let stack = try TableStack(test.place, model: Self._model.model)
    return (stack, stack.context.performAndWait { AttributeTable.insertRow(into: stack.context) })
  }

  /// The attribute's value as all ways to read it give it, which must agree.
  private func _text(_ test: AttributeCase, _ row: NSManagedObject) -> String {
    let text = test.form.accesses[0].text(row, test.property)
    for access in test.form.accesses.dropFirst() where text != "nil" || access.takesNil {
      #expect(access.text(row, test.property) == text, "\(access.name)")
    }
    return text
  }

  private func _text(_ test: AttributeCase, in context: NSManagedObjectContext) throws -> String {
    let rows = try context.all("Row")
    #expect(rows.count == 1)
    return _text(test, try #require(rows.first))
  }

  /// The ways to write the attribute.
  private func _eachAccess(_ test: AttributeCase, _ body: (TableAccess) throws -> Void) throws {
    for access in test.form.accesses { try body(access) }
  }

  @Test(arguments: AttributeCase.all)
  fileprivate func `a new object has the default, and a value is shown, saved and read again`(
    _ test: AttributeCase
  ) throws {
    let (stack, row) = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      if test.form.type != .transformableAttributeType { #expect(_text(test, row) == test.initial) }
      for (number, access) in test.form.accesses.enumerated() {
        let value = (number + 1) % test.form.texts.count, expected = test.form.texts[value]
        access.set(row, test.property, value)
        #expect(_text(test, row) == expected, "\(access.name)")
        try stack.save()
        #expect(_text(test, row) == expected, "\(access.name)")
        #expect(!row.hasChanges)
        try #expect(stack.elsewhere { try _text(test, in: $0) } == expected, "\(access.name)")
        context.refresh(row, mergeChanges: false)
        #expect(_text(test, row) == expected, "\(access.name)")
      }
      let last = _text(test, row)
      try #expect(stack.reopened { try _text(test, in: $0) } == last)
    }
  }

  @Test(arguments: AttributeCase.all)
  fileprivate func `a change is rolled back, refreshed away, and undone and done again`(
    _ test: AttributeCase
  ) throws {
    let (stack, row) = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      test.form.accesses[0].set(row, test.property, 0)
      try stack.save()
      let (first, second) = (test.form.texts[0], test.form.texts[1])
      for access in test.form.accesses {
        access.set(row, test.property, 1)
        #expect(_text(test, row) == second, "\(access.name)")
        #expect(row.changedValues().keys.contains(test.property), "\(access.name)")
        #expect(
          row.committedValues(forKeys: [test.property]).count == 1, "\(access.name)")
        context.rollback()
        #expect(_text(test, row) == first, "\(access.name)")
        #expect(!context.hasChanges)

        access.set(row, test.property, 1)
        context.refresh(row, mergeChanges: true)
        #expect(_text(test, row) == second, "\(access.name)")
        context.refresh(row, mergeChanges: false)
        #expect(_text(test, row) == first, "\(access.name)")

        let undo = UndoManager()
        undo.groupsByEvent = false
        context.undoManager = undo
        undo.beginUndoGrouping()
        access.set(row, test.property, 1)
        context.processPendingChanges()
        undo.endUndoGrouping()
        undo.undo()
        #expect(_text(test, row) == first, "\(access.name)")
        undo.redo()
        #expect(_text(test, row) == second, "\(access.name)")
        context.undoManager = nil
        context.rollback()
      }
      try stack.save()
      try #expect(stack.elsewhere { try _text(test, in: $0) } == first)
    }
  }

  @Test(arguments: AttributeCase.all)
  fileprivate func `a child's value reaches its parent with its save, and the store with the parent's`(
    _ test: AttributeCase
  ) throws {
    let (stack, row) = try _stack(test)
    let context = stack.context
    try context.performAndWait {
      test.form.accesses[0].set(row, test.property, 0)
      try stack.save()
    }
    let (first, second) = (test.form.texts[0], test.form.texts[1])
    for access in test.form.accesses {
      let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      child.parent = context
      try child.performAndWait {
        let mine = try #require(try child.all("Row").first)
        #expect(_text(test, mine) == first, "\(access.name)")
        access.set(mine, test.property, 1)
        #expect(_text(test, mine) == second, "\(access.name)")
        #expect(context.performAndWait { _text(test, row) } == first, "\(access.name)")
        try child.save()
      }
      try context.performAndWait {
        #expect(_text(test, row) == second, "\(access.name)")
        try #expect(stack.elsewhere { try _text(test, in: $0) } == first, "\(access.name)")
        try stack.save()
        try #expect(stack.elsewhere { try _text(test, in: $0) } == second, "\(access.name)")
        test.form.accesses[0].set(row, test.property, 0)
        try stack.save()
      }
    }
  }

  @Test(arguments: AttributeCase.all.filter { $0.presence.isOptional })
  fileprivate func `nil replaces a value, and a value nil`(_ test: AttributeCase) throws {
    let (stack, row) = try _stack(test)
    try stack.context.performAndWait {
      for access in test.form.accesses where access.takesNil {
        access.set(row, test.property, 1)
        try stack.save()
        access.set(row, test.property, nil)
        #expect(_text(test, row) == "nil", "\(access.name)")
        try stack.save()
        try #expect(stack.elsewhere { try _text(test, in: $0) } == "nil", "\(access.name)")
      }
      try #expect(stack.reopened { try _text(test, in: $0) } == "nil")
      for access in test.form.accesses {
        access.set(row, test.property, 0)
        try stack.save()
        try #expect(stack.elsewhere { try _text(test, in: $0) } == test.form.texts[0], "\(access.name)")
        test.form.accesses[0].set(row, test.property, nil)
        try stack.save()
      }
    }
  }

  @Test(arguments: AttributeCase.all.filter { !$0.presence.isOptional })
  fileprivate func `a mandatory attribute without a value fails the save`(_ test: AttributeCase) throws {
    let (stack, row) = try _stack(test)
    try stack.context.performAndWait {
      try stack.save()
      let saved = _text(test, row)
      for access in test.form.accesses where access.takesNil {
        access.set(row, test.property, nil)
        let error = #expect(throws: CocoaError.self) { try stack.context.save() }
        #expect(error?.code == .validationMissingMandatoryProperty, "\(access.name)")
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == test.property)
        stack.context.rollback()
        #expect(_text(test, row) == saved)
      }
    }
  }
}

/// Values of each type as conditions of requests.
@Suite struct AttributeConditionTests {
  @Test(arguments: TablePlace.all.filter { $0.kind != .custom }, AttributeForm.all)
  func `a value is found by a condition on it, and nil by nil`(_ place: TablePlace, _ form: AttributeForm)
    throws
  {
    guard form.type != .transformableAttributeType else { return }
    let stack = try TableStack(place, model: AttributeTable.model())
    let key = AttributePresence.optional.property(form)
    let values = form.values()
    try stack.context.performAndWait {
      for value in values {
        AttributeTable.insertRow(into: stack.context).setValue(value, forKey: key)
      }
      AttributeTable.insertRow(into: stack.context)
      for isSaved in [false, true] {
        if isSaved { try stack.save() }
        for (value, text) in zip(values, form.texts) {
          let found = try stack.context.all(
            "Row", where: NSPredicate(format: "%K == %@", key, value as! any CVarArg))
          #expect(found.map { form.accesses[0].text($0, key) } == [text])
        }
        try #expect(stack.context.all("Row", where: NSPredicate(format: "%K == nil", key)).count == 1)
        try #expect(
          stack.context.all("Row", where: NSPredicate(format: "%K IN %@", key, values as NSArray)).count
            == values.count)
      }
    }
  }

  @Test(
    arguments: TablePlace.all.filter { $0.kind == .sql },
    ["optional_transformable == optional_String", "optional_String == optional_transformable"])
  func `a transformable value is compared with no attribute of another type`(
    _ place: TablePlace, _ condition: String
  ) throws {
    let stack = try TableStack(place, model: AttributeTable.model())
    try stack.context.performAndWait {
      AttributeTable.insertRow(into: stack.context)
      try stack.save()
      let error = #expect(throws: (any Error).self) {
        try stack.context.all("Row", where: NSPredicate(format: condition))
      }
      #expect("\(error as Any)".contains("a transformable value can only be compared"))
    }
  }
}

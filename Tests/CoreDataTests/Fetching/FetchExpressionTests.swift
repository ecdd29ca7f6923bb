import CoreData
import Testing

/// FETCH(request, context, countOnly), evaluated and in the predicate of another fetch.
@Suite struct FetchExpressionTests {
  private func _stack(_ setting: Setting) throws -> TestStack {
    let stack = try TestStack(setting)
    stack.context.performAndWait {
      for (name, age) in [("Ann", 50), ("Bob", 30), ("Cid", 20)] {
        let author = stack.context.insert("Author", ["name": name, "age": age])
        stack.context.insert("Book", ["title": "by \(name)", "pages": age, "author": author])
      }
    }
    try stack.save()
    return stack
  }

  private func _old() -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
    request.predicate = NSPredicate(format: "age >= 30")
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    return request
  }

  private func _expression(
    _ request: AnyFetchRequest, _ context: NSManagedObjectContext, countOnly: Bool = false
  ) -> NSExpression {
    NSFetchRequestExpression.expression(
      forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context),
      countOnly: countOnly)
  }

  @Test func `it tells its parts`() throws {
    let stack = try TestStack(.memory)
    let request = _old()
    let expression = try #require(
      _expression(request, stack.context, countOnly: true) as? NSFetchRequestExpression)
    #expect(expression.expressionType == .fetchRequest && NSFetchRequestExpressionType.rawValue == 50)
    #expect(expression.requestExpression.constantValue as? AnyFetchRequest === request)
    #expect(expression.contextExpression.constantValue as? NSManagedObjectContext === stack.context)
    #expect(expression.isCountOnlyRequest)
    let comparison = NSPredicate(format: "SELF IN %@", expression) as? NSComparisonPredicate
    #expect(comparison?.rightExpression is NSFetchRequestExpression)
  }

  @Test(arguments: Setting.allCases) func `its value is what the fetch finds`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      stack.context.insert("Author", ["name": "Dora", "age": 40])
      let found = _expression(_old(), stack.context).expressionValue(with: nil, context: nil)
      #expect((found as? [NSManagedObject])?.map { $0.text("name") } == ["Bob", "Dora", "Ann"])
      let count = _expression(_old(), stack.context, countOnly: true)
      #expect(count.expressionValue(with: nil, context: nil) as? Int == 3)
      let format = NSExpression(format: "FETCH(%@, %@, YES) * 2", argumentArray: [_old(), stack.context])
      try #expect(format.evaluated(with: nil) as? Int == 6)
    }
  }

  @Test(arguments: Setting.allCases) func `another fetch asks for its members`(_ setting: Setting) throws {
    let stack = try _stack(setting)
    try stack.context.performAndWait {
      let titles = NSFetchRequest<NSManagedObject>(entityName: "Book")
      titles.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      titles.predicate = NSPredicate(format: "author IN %@", _expression(_old(), stack.context))
      try #expect(stack.context.fetch(titles).map { $0.text("title") } == ["by Ann", "by Bob"])
      titles.predicate = NSPredicate(
        format: "pages > 20 AND NOT (author IN FETCH(%@, %@, NO))", argumentArray: [_old(), stack.context])
      try #expect(stack.context.fetch(titles).isEmpty)
      titles.predicate = NSPredicate(
        format: "pages > FETCH(%@, %@, YES) * 10", argumentArray: [_old(), stack.context])
      try #expect(stack.context.fetch(titles).map { $0.text("title") } == ["by Ann", "by Bob"])
    }
  }

  @Test(arguments: Setting.direct) func `one column of dictionaries stands for its values`(_ setting: Setting)
    throws
  {
    let stack = try _stack(setting)
    let ages = NSFetchRequest<NSDictionary>(entityName: "Author")
    ages.resultType = .dictionaryResultType
    ages.propertiesToFetch = ["age"]
    // Ignored in a nested fetch.
    ages.fetchOffset = 2
    try stack.context.performAndWait {
      let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
      books.predicate = NSPredicate(format: "pages IN %@", _expression(ages, stack.context))
      try #expect(stack.context.count(for: books) == 3)
    }
  }

  @Test func `what is no request is named`() throws {
    let stack = try TestStack(.memory)
    stack.context.performAndWait { () -> Void in
      let books = NSFetchRequest<NSManagedObject>(entityName: "Book")
      books.predicate = NSPredicate(format: "author IN FETCH('x', %@, NO)", argumentArray: [stack.context])
      let error = #expect(throws: CocoaError.self) { try stack.context.fetch(books) }
      #expect(error.map { "\($0)".contains("FETCH needs a fetch request") } == true)
      #expect(throws: NSPredicate.EvaluationError.self) {
        try NSExpression(format: "FETCH(1, 2, NO)").evaluated(with: nil)
      }
    }
  }
}

import CoreData
import Foundation
import Testing

final class TypedAuthor: NSManagedObject {
  var name: String? { value(forKey: "name") as? String }
  var age: Int16 { value(forKey: "age") as? Int16 ?? 0 }
  var books: Set<TypedBook> { value(forKey: "books") as? Set<TypedBook> ?? [] }
  var mentor: TypedAuthor? { value(forKey: "mentor") as? TypedAuthor }
}

class TypedBook: NSManagedObject {
  var title: String {
    get { value(forKey: "title") as! String }
    set { setValue(newValue, forKey: "title") }
  }
  var pages: Int32 { (value(forKey: "pages") as! NSNumber).int32Value }
  var price: Double { (value(forKey: "price") as? NSNumber)?.doubleValue ?? 0 }
  var published: Date? { value(forKey: "published") as? Date }
  var inPrint: Bool { (value(forKey: "inPrint") as? NSNumber)?.boolValue ?? false }
  var author: TypedAuthor? { value(forKey: "author") as? TypedAuthor }
  var tags: Set<TypedTag> { value(forKey: "tags") as? Set<TypedTag> ?? [] }
  /// Not a property of the model.
  var loud: String { title.uppercased() }
  var both: String { title + String(pages) }
}

final class TypedNovel: TypedBook {
  var genre: String? { value(forKey: "genre") as? String }
}

final class TypedTag: NSManagedObject {
  var name: String { value(forKey: "name") as? String ?? "" }
}

@Suite struct TypedQueryTests {
  private let _stack: TestStack

  init() throws {
    let model = LibraryModel.make()
    for (entity, name) in [
      ("Author", "TypedAuthor"), ("Book", "TypedBook"), ("Novel", "TypedNovel"), ("Tag", "TypedTag"),
    ] {
      model.entitiesByName[entity]!.managedObjectClassName = "CoreDataTests.\(name)"
    }
    let stack = try TestStack(.sqlite, model: model)
    _stack = stack
    try stack.context.performAndWait {
      let context = stack.context
      let ann = context.insert("Author", ["name": "Ann", "age": 50]),
        bob = context.insert("Author", ["name": "Bob", "age": 30])
      bob.setValue(ann, forKey: "mentor")
      let red = context.insert("Tag", ["name": "red"]), blue = context.insert("Tag", ["name": "Bleu"])
      context.insert(
        "Book", ["title": "Apple", "pages": 10, "price": 1.5, "author": ann, "tags": Set([red])])
      context.insert(
        "Book", ["title": "Éclair", "pages": 20, "price": 2.5, "author": bob, "tags": Set([red, blue])])
      context.insert("Novel", ["title": "Cherry", "pages": 30, "genre": "noir", "inPrint": false])
      try context.save()
    }
  }

  private func _titles(_ predicate: Predicate<TypedBook>) throws -> [String] {
    try _stack.context.performAndWait {
      let request = NSFetchRequest<TypedBook>(entityName: "Book")
      request.predicate = try NSPredicate(translating: predicate)
      request.sortDescriptors = [NSSortDescriptor(keyPath: \TypedBook.pages, ascending: true)]
      return try _stack.context.fetch(request).map(\.title)
    }
  }

  private func _format(_ predicate: Predicate<TypedBook>) throws -> String {
    try NSPredicate(translating: predicate).description
  }

  @Test func `comparisons of attributes find`() throws {
    let name = "Apple"
    #expect(try _titles(#Predicate { $0.title == name }) == ["Apple"])
    #expect(try _titles(#Predicate { $0.pages > 10 && $0.pages <= 30 }) == ["Éclair", "Cherry"])
    #expect(try _titles(#Predicate { $0.title == "Apple" || !($0.pages < 30) }) == ["Apple", "Cherry"])
    #expect(try _titles(#Predicate { !$0.inPrint }) == ["Cherry"])
    #expect(try _titles(#Predicate { $0.inPrint }) == ["Apple", "Éclair"])
  }

  @Test func `paths across optional relationships find`() throws {
    #expect(try _titles(#Predicate { $0.author?.name == "Bob" }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.author?.mentor?.name == "Ann" }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.author == nil }) == ["Cherry"])
    #expect(try _titles(#Predicate { ($0.author?.age ?? 7) < 40 }) == ["Éclair", "Cherry"])
    #expect(try _titles(#Predicate { $0.author!.name == "Ann" }) == ["Apple"])
  }

  @Test(.ofFiles) func `texts are searched`() throws {
    #expect(try _titles(#Predicate { $0.title.contains("pp") }) == ["Apple"])
    #expect(try _titles(#Predicate { $0.title.starts(with: "Ch") }) == ["Cherry"])
    #expect(try _titles(#Predicate { $0.title.localizedStandardContains("ECL") }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.title.isEmpty }) == [])
    #expect(try _titles(#Predicate { $0.title.count == 5 }) == ["Apple"])
  }

  @Test func `collections are searched`() throws {
    let wanted = ["Apple", "Cherry"]
    #expect(try _titles(#Predicate { wanted.contains($0.title) }) == ["Apple", "Cherry"])
    #expect(try _titles(#Predicate { $0.tags.count == 2 }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.tags.isEmpty }) == ["Cherry"])
    #expect(try _titles(#Predicate { $0.tags.contains { $0.name.contains("l") } }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.tags.allSatisfy { $0.name == "red" } }) == ["Apple", "Cherry"])
    #expect(
      try _titles(#Predicate { $0.tags.filter { $0.name == "red" }.count == 1 }) == ["Apple", "Éclair"])
  }

  @Test func `ranges arithmetic and conditionals find`() throws {
    let range = 15..<30
    _ = range
    #expect(try _titles(#Predicate { ($0.pages * 2) + 1 > 41 }) == ["Cherry"])
    #expect(try _titles(#Predicate { (10...20).contains($0.pages) }) == ["Apple", "Éclair"])
    #expect(try _titles(#Predicate { (10..<20).contains($0.pages) }) == ["Apple"])
    #expect(try _titles(#Predicate { ($0.pages > 15 ? 1 : 2) == 1 }) == ["Éclair", "Cherry"])
  }

  @Test func `optional tests have a default`() throws {
    // Cherry has no author.
    #expect(try _titles(#Predicate { $0.author?.books.contains { $0.pages == 10 } ?? false }) == ["Apple"])
    #expect(
      try _titles(#Predicate { $0.author?.books.contains { $0.pages == 10 } ?? true }) == ["Apple", "Cherry"])
    #expect(
      try _titles(#Predicate { !($0.author?.books.contains { $0.pages == 10 } ?? false) }) == [
        "Éclair", "Cherry",
      ])
    #expect(try _titles(#Predicate { $0.author?.name?.starts(with: "B") ?? true }) == ["Éclair", "Cherry"])
    #expect(try _titles(#Predicate { $0.author?.mentor?.name?.contains("n") ?? false }) == ["Éclair"])
    #expect(
      try _titles(#Predicate { if let author = $0.author { author.age > 40 } else { true } }) == [
        "Apple", "Cherry",
      ])
  }

  @Test func `key paths are compared with one another`() throws {
    #expect(try _titles(#Predicate { $0.author!.age > $0.author!.mentor!.age }) == [])
    #expect(try _titles(#Predicate { $0.author!.age < $0.author!.mentor!.age }) == ["Éclair"])
    #expect(try _titles(#Predicate { $0.price * 4.0 < 8.0 }) == ["Apple"])
    #expect(try _titles(#Predicate { $0.title != $0.author!.name! }) == ["Apple", "Éclair"])
  }

  @Test func `ranges may be held in variables and go on`() throws {
    let (from, upTo, through, closed) = (Int32(20)..., ..<Int32(20), ...Int32(20), Int32(10)...Int32(20))
    #expect(try _titles(#Predicate { from.contains($0.pages) }) == ["Éclair", "Cherry"])
    #expect(try _titles(#Predicate { upTo.contains($0.pages) }) == ["Apple"])
    #expect(try _titles(#Predicate { through.contains($0.pages) }) == ["Apple", "Éclair"])
    #expect(try _titles(#Predicate { closed.contains($0.pages) }) == ["Apple", "Éclair"])
    let pages: Set<Int32> = [10, 30]
    #expect(try _titles(#Predicate { pages.contains($0.pages) }) == ["Apple", "Cherry"])
    #expect(try _titles(#Predicate { !pages.contains($0.pages) }) == ["Éclair"])
  }

  @Test func `dates are compared`() throws {
    try _stack.context.performAndWait {
      for (number, book) in try _stack.context.all("Book", by: "pages").enumerated() where number > 0 {
        book.setValue(Date(timeIntervalSinceReferenceDate: Double(number) * 1000), forKey: "published")
      }
      try _stack.context.save()
    }
    let date = Date(timeIntervalSinceReferenceDate: 1500), early = Date.distantPast
    #expect(try _titles(#Predicate { $0.published! < date }) == ["Éclair"])
    #expect(try _titles(#Predicate { ($0.published ?? early) < date }) == ["Apple", "Éclair"])
    #expect(try _titles(#Predicate { $0.published == nil }) == ["Apple"])
  }

  @Test(.ofFiles) func `patterns are searched`() throws {
    #expect(try _titles(#Predicate { $0.title.contains(#/[aA]p+/#) }) == ["Apple"])
    #expect(try _titles(#Predicate { $0.title.contains(#/^.{6}$/#) }) == ["Éclair", "Cherry"])
  }

  @Test func `subqueries nest`() throws {
    let found = try _stack.context.performAndWait { () -> [String?] in
      let request = NSFetchRequest<TypedAuthor>(entityName: "Author")
      request.predicate = try NSPredicate(
        translating: #Predicate<TypedAuthor> { author in
          author.books.contains { book in book.tags.contains { tag in tag.name == "red" } && book.pages > 15 }
        })
      return try _stack.context.fetch(request).map(\.name)
    }
    #expect(found == ["Bob"])
  }

  @Test func `an object is a constant`() throws {
    let found = try _stack.context.performAndWait { () -> [String] in
      let ann =
        try _stack.context.all("Author", where: NSPredicate(format: "name == 'Ann'"))[0] as? TypedAuthor
      let request = NSFetchRequest<TypedBook>(entityName: "Book")
      request.predicate = NSPredicate(format: "author == %@", ann!)
      return try _stack.context.fetch(request).map(\.title)
    }
    #expect(found == ["Apple"])
  }

  @Test func `the tree is that of the format`() throws {
    #expect(
      try _format(#Predicate { $0.title == "x" && $0.pages > 3 && $0.author?.name != nil })
        == "title == \"x\" AND pages > 3 AND author.name != nil")
  }

  @Test func `subclasses read their own and inherited properties`() throws {
    let predicate = #Predicate<TypedNovel> { $0.genre == "noir" && $0.title == "Cherry" }
    #expect(
      try NSPredicate(translating: predicate).description == "genre == \"noir\" AND title == \"Cherry\"")
  }

  @Test func `what has no translation says which`() throws {
    let loud = #expect(throws: PredicateTranslationError.self) {
      try _format(#Predicate { $0.loud == "APPLE" })
    }
    #expect(loud?.reason.contains("computes something from 'title'") == true)
    let both = #expect(throws: PredicateTranslationError.self) { try _format(#Predicate { $0.both == "x" }) }
    #expect(both?.reason.contains("reads both 'title' and 'pages'") == true)
    let type = #expect(throws: PredicateTranslationError.self) {
      try _format(#Predicate { $0 is TypedNovel })
    }
    #expect(type?.subexpression == "a test for the type TypedNovel")
    let predicate = #Predicate<TypedBook> { $0.loud == "APPLE" }
    #expect(NSPredicate(predicate) == nil)
  }

  @Test func `typed sort descriptors sort`() throws {
    let titles = try _stack.context.performAndWait { () -> [String] in
      let request = NSFetchRequest<TypedBook>(entityName: "Book")
      request.sortDescriptors = [
        NSSortDescriptor(SortDescriptor(\TypedBook.author?.name, order: .reverse)),
        NSSortDescriptor(keyPath: \TypedBook.title, ascending: true),
      ]
      return try _stack.context.fetch(request).map(\.title)
    }
    #expect(titles == ["Éclair", "Apple", "Cherry"])
  }
}

import Testing

@testable import CoreDataModelCodegen

@Suite struct AdoptionTests {
  @Test func `Attributes of Apple's are put under a condition`() {
    let source =
      "@objc(Book)\npublic class Book: NSManagedObject {\n  @objc(addX:) @NSManaged func addToX(_ x: X)\n}\n"
    #expect(
      SourceAdoption(source).adopted == """
        #if canImport(ObjectiveC)
        @objc(Book)
        #endif
        public class Book: NSManagedObject {
          #if canImport(ObjectiveC)
          @objc(addX:)
          #endif
          @NSManaged func addToX(_ x: X)
        }

        """)
  }

  @Test func `A file keeps its line ends`() {
    let source = "import CoreData\r\n@objc(Book)\r\nclass Book {\r\n  @objc func f() {}\r\n}\r\n"
    let adopted = SourceAdoption(source).adopted
    #expect(adopted.contains("#if canImport(ObjectiveC)\r\n@objc(Book)\r\n#endif\r\nclass Book"))
    #expect(!adopted.replacing("\r\n", with: "").utf8.contains(UInt8(ascii: "\n")))
    let stripped = SourceAdoption(source, attributes: .strip).adopted
    #expect(stripped == "import CoreData\r\nclass Book {\r\n  func f() {}\r\n}\r\n")
  }

  @Test func `Adopting twice changes nothing more`() {
    let once = SourceAdoption("@objc(Book) class Book: NSManagedObject {}\n").adopted
    #expect(!SourceAdoption(once).isChanged)
  }

  @Test func `Attributes can be taken out`() {
    let source = "@objc(Book)\nclass Book { @objc func f() {} }\n"
    #expect(SourceAdoption(source, attributes: .strip).adopted == "class Book { func f() {} }\n")
  }

  @Test func `Key paths become strings`() {
    let source = "let key = #keyPath(Book.author.name) + #keyPath(title)"
    #expect(SourceAdoption(source).adopted == "let key = \"author.name\" + \"title\"")
  }

  @Test func `Comments and strings are left alone`() {
    let source = "// @objc(Book)\nlet text = \"@objc #keyPath(Book.title)\"\n"
    #expect(!SourceAdoption(source).isChanged)
  }

  @Test func `What takes a person is reported with its place`() {
    let source = "import Combine\nlet token = book.observe(\\.title) { _, _ in }\nlet s = #selector(f)\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1, 2, 3])
  }

  @Test func `An override in an extension is reported`() {
    let source =
      "extension Book {\n  override func awakeFromInsert() {}\n}\nclass Page: Book {\n  override func willSave() {}\n}\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [2])
  }

  @Test func `A cast between fetch requests is reported`() {
    let source =
      "import CoreData; let all = request as! NSFetchRequest<NSFetchRequestResult>\nlet r = NSFetchRequest<Book>()\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1])
  }

  @Test func `a remark on a cast request names the call without the cast`() {
    let source = """
      import CoreData
      class FetchedResultsController<T: NSManagedObject>: NSFetchedResultsController<NSFetchRequestResult> {
        init(fetchRequest: NSFetchRequest<T>, context: NSManagedObjectContext) {
          super.init(
            fetchRequest: fetchRequest as! NSFetchRequest<NSFetchRequestResult>,
            managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        }
      }

      """
    let remarks = SourceAdoption(source).remarks
    #expect(remarks.map(\.line) == [5])
    #expect(remarks.first?.message.contains("'fetchRequest: request'") == true)
  }

  @Test func `A predicate's format is reported in a file with compounds`() {
    let asks = "print(predicate.predicateFormat)\n"
    #expect(SourceAdoption(asks).remarks.isEmpty)
    let makes = "let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [])\n"
    let remarks = SourceAdoption(makes + asks).remarks
    #expect(remarks.map(\.line) == [2])
    #expect(remarks.first?.message.contains("canonicalFormat") == true)
  }

  @Test func `A cast of a to-many's value to a mutable set is reported`() {
    let source =
      "let books = author.value(forKey: \"books\") as? NSMutableSet\nlet own = NSMutableSet()\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1])
  }

  // MARK: Key paths and selectors

  @Test(arguments: [
    (
      #""\(#keyPath(Book.title)) == %@ AND \(#keyPath(Book.author.name)) == %@""#,
      #""title == %@ AND author.name == %@""#
    ),
    (#""$source.\(#keyPath(Book.title))""#, #""$source.title""#),
    (#""\(prefix + #keyPath(Book.title))""#, #""\(prefix + "title")""#),
    (#""\(f("\(#keyPath(Book.title))"))""#, #""\(f("title"))""#),
    ("\"\"\"\n  \\(#keyPath(Book.title)) > 1\n  \"\"\"", "\"\"\"\n  title > 1\n  \"\"\""),
    (##"#"\#(#keyPath(Book.title)) \(#keyPath(Book.title))"#"##, ##"#"title \(#keyPath(Book.title))"#"##),
  ])
  func `key paths within strings become part of them`(source: String, adopted: String) {
    #expect(SourceAdoption("let text = " + source).adopted == "let text = " + adopted)
  }

  @Test(arguments: [
    "NSString.caseInsensitiveCompare(_:)", "NSString.caseInsensitiveCompare",
  ])
  func `selectors of sort descriptors become strings`(method: String) {
    let adoption = SourceAdoption(
      "let s = NSSortDescriptor(key: \"title\", ascending: true, selector: #selector(\(method)))")
    #expect(
      adoption.adopted
        == "let s = NSSortDescriptor(key: \"title\", ascending: true, selector: \"caseInsensitiveCompare:\")")
    #expect(adoption.remarks.isEmpty)
  }

  @Test func `a custom selector is reported`() {
    let source = "let b = Button(target: self, selector: #selector(tap(_:)))"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1])
    #expect(!SourceAdoption(source).isChanged)
  }

  // MARK: Imports

  @Test func `a submodule's import becomes one of Core Data`() {
    #expect(SourceAdoption("import CoreData.NSFetchRequest\n").adopted == "import CoreData\n")
    #expect(!SourceAdoption("import class CoreData.NSFetchRequest\n").isChanged)
  }

  @Test func `users of the stack import it by this package's name`() {
    let source = "import CoreDataStack\nlet stack: CoreDataStack\n"
    #expect(SourceAdoption(source).adopted == "import CoreDataStacks\nlet stack: CoreDataStack\n")
    var survey = AdoptionSurvey()
    survey.ownModules = ["CoreDataStack"]
    #expect(!SourceAdoption(source, survey: survey).isChanged)
  }

  @Test func `a class that Foundation has too is imported from Core Data`() {
    let source = "import CoreData\nimport Foundation\n\nlet e: NSExpression? = nil\n"
    let once = SourceAdoption(source).adopted
    #expect(
      once
        == "import CoreData\nimport Foundation\n#if !canImport(ObjectiveC)\nimport class CoreData.NSExpression\n#endif\n\n"
        + "let e: NSExpression? = nil\n")
    #expect(!SourceAdoption(once).isChanged)
    #expect(!SourceAdoption("import CoreData\nlet e: NSExpression? = nil\n").isChanged)
  }

  @Test func `use of Core Data without an import is reported`() {
    let remarks = SourceAdoption("import Foundation\nlet o: NSManagedObject\n").remarks
    #expect(remarks.map(\.line) == [2])
    #expect(SourceAdoption("import CoreData\nlet o: NSManagedObject\n").remarks.isEmpty)
  }

  // MARK: Remarks

  @Test func `a parameter named override is no override`() {
    let source =
      "extension Book {\n  func save(override: Bool, or override: Int = 1) { f(override: true) }\n  subscript(override: Bool) -> Int { 1 }\n}\n"
    #expect(SourceAdoption(source).remarks.isEmpty)
  }

  @Test(arguments: [
    "objc_sync_enter(self)", "autoreleasepool { f() }", "import os", "import os.log", "import os.lock",
    "import OSLog", "import HealthKit", "let c = NSClassFromString(entity.managedObjectClassName)",
    "center.removeObserver(self)",
    "bundle.url(forResource: n, withExtension: \"momd\")", "bundle.path(forResource: n, ofType: \"mom\")",
    "bundle.url(forResource: n, withExtension: \"cdm\")", "class T: Foundation.ValueTransformer {}",
    "class Model: NSObject { func f() { willChangeValue(forKey: \"a\") } }",
    "protocol P {}; extension P { init(c: Int) { self.init(a: c) } }",
    "let e = NSExpression(format: \"FUNCTION($manager, 'f:')\")",
    "class P: NSEntityMigrationPolicy { @objc(convert:) func convert(_ x: Int) {} }",
  ])
  func `what has no counterpart is reported with a remedy`(source: String) {
    let remarks = SourceAdoption("import CoreData\n" + source).remarks
    #expect(remarks.map(\.line) == [2], "\(remarks)")
  }

  @Test(arguments: [
    "center.removeObserver(token)", "func autoreleasepool(f: () -> Void) {}",
    "Bundle.module.url(forResource: n, withExtension: \"momd\")", "let text = \"momd\"",
    "class Book: NSManagedObject { func f() { willChangeValue(forKey: \"a\") } }",
    "extension Book { convenience init(c: Int) { self.init(a: c) } }", "class T: ValueTransformer {}",
  ])
  func `what works is not reported`(source: String) {
    let remarks = SourceAdoption("import CoreData\n" + source).remarks
    #expect(remarks.isEmpty, "\(remarks)")
  }

  @Test func `an operation is told how it announces its state here`() throws {
    let source = "class Import: Operation { func end() { didChangeValue(forKey: \"isFinished\") } }"
    let remarks = SourceAdoption(source).remarks
    #expect(remarks.map(\.message).joined().contains("didChangeValue(for: \\.isFinished)"))
  }

  @Test func `an overridden method is reported in its extension`() {
    let base =
      "import CoreData\nextension Book {\n  @objc dynamic func describe() {}\n  @objc func other() {}\n}\n"
    var survey = AdoptionSurvey()
    survey.add("class Novel: Book {\n  override func describe() {}\n}\n")
    #expect(SourceAdoption(base, survey: survey).remarks.map(\.line) == [3])
    #expect(SourceAdoption(base).remarks.isEmpty)
  }

  @Test func `A diff shows the lines around a change`() {
    let text = UnifiedDiff.text(from: "a\nb\nc\n", to: "a\nx\nc\n", path: "F.swift")
    #expect(text == "--- F.swift\n+++ F.swift\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n")
  }

  @Test(arguments: [
    "\"", "/* ", "`", "#\"", "\"\"\"\\(", "class {", "@", "extension A.", "@NSManaged var x: [[[[",
  ])
  func `Broken source is read without harm`(source: String) {
    _ = SourceAdoption(source)
    let generated = ManagedAccessors.generate(
      module: "App", sources: [ManagedAccessors.Source(path: "A.swift", text: source)])
    #expect(!generated.text.isEmpty)
  }

  // MARK: Foundation's names

  @Test(arguments: [
    "let p = NSPredicate(format: \"a == 1\")", "let s = NSSortDescriptor(key: \"a\", ascending: true)",
    "class Upper: ValueTransformer {}", "let name: NSValueTransformerName = n",
  ])
  func `A file that uses what Foundation has on a Mac imports Core Data`(_ use: String) {
    #expect(
      SourceAdoption("import Foundation\n\(use)\n").adopted == "import Foundation\nimport CoreData\n\(use)\n")
    #expect(!SourceAdoption(SourceAdoption("import Foundation\n\(use)\n").adopted).isChanged)
  }

  @Test func `Classes that both modules have are imported from Core Data`() {
    #expect(
      SourceAdoption("import Foundation\nlet e = NSExpression(forKeyPath: \"a\")\n").adopted == """
        import Foundation
        import CoreData
        #if !canImport(ObjectiveC)
        import class CoreData.NSExpression
        #endif
        let e = NSExpression(forKeyPath: "a")

        """)
  }

  @Test(arguments: [
    "import Foundation\nlet p = NSPredicate(value: true)\n",
    "import Foundation\nfinal class ValueTransformer {}\nlet v = ValueTransformer()\n",
    "import CoreDataStacks\nimport Foundation\nlet p = NSPredicate(format: \"a == 1\")\n",
    "let p = NSPredicate(format: \"a == 1\")\n",
  ])
  func `Other files import nothing more`(_ source: String) { #expect(!SourceAdoption(source).isChanged) }

  // MARK: Names, bundles, pools

  @Test func `The name of a getter becomes text`() {
    let source =
      "let a = NSStringFromSelector(#selector(getter: Book.title)) + f(#selector(getter: Book.title))"
    let adoption = SourceAdoption(source)
    #expect(adoption.adopted == "let a = \"title\" + f(#selector(getter: Book.title))")
    #expect(adoption.remarks.count == 1)
  }

  @Test(arguments: [
    "NSManagedObjectModel.mergedModel(from: [Bundle(for: Book.self)])",
    "CoreDataStack(modelName: n, in: Bundle(for: Self.self))", "make(bundle: .init(for: type(of: self)))",
    "mergedModel(from: [.init(for: Book.self)])", "f(Bundle.init(for: Book.self))",
  ])
  func `A class's bundle that is passed on is remarked on`(_ call: String) {
    #expect(SourceAdoption("import CoreData\nlet m = \(call)\n").remarks.map(\.line) == [2])
  }

  @Test(arguments: [
    "make(bundle: .module)", "make(in: .init(for: 5))", "make(.init(for: Book.self))",
    "f(Bundle(for: Book.self).url(forResource: n, withExtension: \"json\"))", "Bundle(for: Book.self)",
  ])
  func `Other arguments are not`(_ call: String) {
    #expect(SourceAdoption("import CoreData\nlet m = \(call)\n").remarks.isEmpty)
  }

  @Test func `CoreGraphics is remarked on`() {
    #expect(SourceAdoption("import CoreGraphics\n").remarks.map(\.line) == [1])
  }

  @Test func `Autorelease pools are told of once`() {
    let source = "func f() { autoreleasepool { g() } }\nfunc h() { autoreleasepool { g() } }\n"
    var report = AdoptionReport()
    #expect(report.remarks(of: SourceAdoption(source)).map(\.line) == [1])
    #expect(report.remarks(of: SourceAdoption(source)).isEmpty)
    var survey = AdoptionSurvey()
    survey.add(AdoptionReport.autoreleasepool)
    #expect(SourceAdoption(source, survey: survey).remarks.isEmpty)
  }

  @Test func `A target with accessors and without the plugin is told of once`() {
    let manifest = PackageManifest(
      """
      let package = Package(name: "P", targets: [
        .target(name: "Lib", dependencies: ["CoreData"]),
        .executableTarget(name: "App", dependencies: [.target(name: "Lib")],
          plugins: [.plugin(name: "CoreDataModelPlugin", package: "CoreData")]),
      ])
      """, directory: "/p")
    var survey = AdoptionSurvey()
    survey.packages = [manifest]
    let source = "class Book: NSManagedObject {\n  @NSManaged var title: String\n}\n"
    func remarks(_ path: String) -> [Int] {
      SourceAdoption("import CoreData\n" + source, survey: survey, path: path).remarks.map(\.line)
    }
    #expect(remarks("/p/Sources/Lib/Book.swift") == [3])
    #expect(remarks("/p/Sources/App/Book.swift").isEmpty)
    #expect(remarks("/p/Elsewhere/Lib/Book.swift").isEmpty)
    #expect(remarks("/q/Sources/Lib/Book.swift").isEmpty)
  }
}

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
      "let all = request as! NSFetchRequest<NSFetchRequestResult>\nlet r = NSFetchRequest<Book>()\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1])
  }

  @Test func `A cast of a to-many's value to a mutable set is reported`() {
    let source =
      "let books = author.value(forKey: \"books\") as? NSMutableSet\nlet own = NSMutableSet()\n"
    #expect(SourceAdoption(source).remarks.map(\.line) == [1])
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
}

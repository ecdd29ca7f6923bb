import CoreData
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation
import Synchronization
import Testing

@testable import CoreDataStoreTools

/// A directory with a model in which the tool runs; removed after the test.
final class Shelf {
  let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("shelf-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try Self.model.write(to: directory.appendingPathComponent("model"), atomically: true, encoding: .utf8)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
  }

  func text(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path(name))), as: UTF8.self)
  }

  /// The tool's output and exit code.
  struct Answer {
    let code: ExitCode
    let output: String
    let error: String

    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
  }

  private final class Lines: Sendable {
    private let _text = Mutex("")
    var text: String { _text.withLock { $0 } }
    func add(_ more: String) { _text.withLock { $0 += more } }
  }

  /// Runs `coredata store` with these arguments; `@name` stands for a path in the directory.
  func run(_ words: String..., columns: Int? = nil) -> Answer { run(words, columns: columns) }

  func run(_ words: [String], columns: Int? = nil) -> Answer {
    let (output, error) = (Lines(), Lines())
    let terminal = Terminal(isInteractive: columns != nil, usesColor: false, width: columns ?? 80)
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal,
      errorTerminal: Terminal(isInteractive: false, usesColor: false, width: 80), output: { output.add($0) },
      error: { error.add($0) })
    let tool = CommandLineTool(name: "coredata", version: "1", summary: "", commands: [.store])
    let code = tool.run(
      ["store"] + words.map { $0.hasPrefix("@") ? path(String($0.dropFirst())) : $0 }, in: environment)
    func local(_ text: String) -> String { text.replacing(directory.path + "/", with: "") }
    return Answer(code: code, output: local(output.text), error: local(error.text))
  }

  /// Creates a store from lines of JSON.
  func makeStore(_ name: String = "store.sqlite", _ lines: String = library) throws {
    try write(lines, to: "input.ndjson")
    let answer = run("import", "@input.ndjson", "--model", "@model", "--output", "@" + name)
    guard answer.code == .success else { throw ToolFailure(answer.code, answer.error) }
  }

  /// Changes the file with plain SQL, unnoticed by open stacks.
  func damage(_ sql: String, in name: String = "store.sqlite") throws {
    let connection = try StoreFileFacts.openForMending(path: path(name))
    try connection.execute(sql)
    try connection.checkpoint(.truncate)
  }

  func value(_ sql: String, in name: String = "store.sqlite") throws -> Binding? {
    try StoreFileFacts.open(path: path(name)).firstValue(sql)
  }

  /// The text that a query answers first; nil for none.
  func text(of sql: String, in name: String = "store.sqlite") throws -> String? {
    if case .text(let text)? = try value(sql, in: name) { text } else { nil }
  }

  static let model = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Author" representedClassName="Author">
            <attribute name="name" attributeType="String" defaultValueString="nobody"/>
            <attribute name="age" optional="YES" attributeType="Integer 16"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
            <relationship name="passport" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Passport" inverseName="holder" inverseEntity="Passport"/>
        </entity>
        <entity name="Book" representedClassName="Book">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="pages" optional="YES" attributeType="Integer 32"/>
            <attribute name="copies" optional="YES" attributeType="Integer 64"/>
            <attribute name="price" optional="YES" attributeType="Double"/>
            <attribute name="weight" optional="YES" attributeType="Float"/>
            <attribute name="cost" optional="YES" attributeType="Decimal"/>
            <attribute name="published" optional="YES" attributeType="Date"/>
            <attribute name="inPrint" optional="YES" attributeType="Boolean"/>
            <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
            <attribute name="isbn" optional="YES" attributeType="UUID"/>
            <attribute name="page" optional="YES" attributeType="URI"/>
            <attribute name="extra" optional="YES" attributeType="Transformable"/>
            <attribute name="mark" optional="YES" transient="YES" attributeType="String"/>
            <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
            <relationship name="chapters" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" destinationEntity="Chapter" inverseName="book" inverseEntity="Chapter"/>
            <relationship name="tags" optional="YES" toMany="YES" deletionRule="Nullify" ordered="YES" destinationEntity="Tag" inverseName="books" inverseEntity="Tag"/>
        </entity>
        <entity name="Novel" representedClassName="Novel" parentEntity="Book">
            <attribute name="genre" optional="YES" attributeType="String"/>
        </entity>
        <entity name="Chapter" representedClassName="Chapter">
            <attribute name="heading" optional="YES" attributeType="String"/>
            <relationship name="book" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Book" inverseName="chapters" inverseEntity="Book"/>
        </entity>
        <entity name="Passport" representedClassName="Passport">
            <attribute name="number" optional="YES" attributeType="String"/>
            <relationship name="holder" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="passport" inverseEntity="Author"/>
        </entity>
        <entity name="Tag" representedClassName="Tag">
            <attribute name="name" optional="YES" attributeType="String"/>
            <relationship name="books" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Book" inverseName="tags" inverseEntity="Book"/>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="name"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
    </model>
    """

  /// Two authors with passports, three books, two of which are novels, tags, chapters in a stored order, and
  /// gaps in the keys.
  static let library = #"""
    {"$entity":"Author","$id":"Author/p2","name":"Theodor Fontane","age":78,"passport":"Passport/p9"}
    {"$entity":"Author","$id":"Author/p5","name":"夏目漱石 \ud83d\udcda","age":null}
    {"$entity":"Book","$id":"Book/p3","title":"Cécile; \"quoted\", and\nlines","pages":300,"copies":9007199254740993,"price":0.1,"weight":1.5,"cost":"10.11","published":"1886-04-01T12:30:00.125Z","inPrint":true,"isbn":"5B3C7A1E-8C0B-4E0B-9E61-0E6D7B8C9A01","page":"https://example.org/a?b=c","extra":"AAEC/w==","cover":"aGVsbG8=","author":"Author/p2","tags":["Tag/p2","Tag/p1"],"chapters":["Chapter/p3","Chapter/p1","Chapter/p2"]}
    {"$entity":"Novel","$id":"Novel/p7","title":"","genre":"realism","inPrint":false,"author":"Author/p2","tags":["Tag/p1"]}
    {"$entity":"Novel","$id":"Novel/p11","title":null,"cost":"-0.000000001","published":"2001-01-01T00:00:00Z","author":"Author/p5"}
    {"$entity":"Chapter","$id":"Chapter/p1","heading":"eins"}
    {"$entity":"Chapter","$id":"Chapter/p2","heading":"zwei"}
    {"$entity":"Chapter","$id":"Chapter/p3","heading":"drei"}
    {"$entity":"Passport","$id":"Passport/p9","number":"C01X0006H"}
    {"$entity":"Passport","$id":"Passport/p10","number":"C01X0007J","holder":"Author/p5"}
    {"$entity":"Tag","$id":"Tag/p1","name":"berlin"}
    {"$entity":"Tag","$id":"Tag/p2","name":"sommer"}
    """#
}

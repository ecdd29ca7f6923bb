import Foundation
import Testing

/// The tool's help texts, and the consistency of its errors.
@Suite struct HelpTests {
  private let session: ShellSession

  init() throws {
    session = try ShellSession()
    try session.makeStore()
  }

  /// Returns the names of all commands, parsed from the help texts.
  private func commands(_ path: String = "coredata") throws -> [String] {
    let help = try session.run("\(path) --help").output
    guard let start = help.range(of: "Commands:\n") else { return [path] }
    let names = help[start.upperBound...].split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { !$0.isEmpty }.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
      .compactMap { $0.split(separator: " ").first.map(String.init) }
    return try [path] + names.flatMap { try commands("\(path) \($0)") }
  }

  @Test(arguments: ["coredata", "coredata store", "coredata model"])
  func `without a command the help is shown`(line: String) throws {
    let outcome = try session.run(line)
    #expect(outcome.code == 0)
    #expect(try outcome.output == session.run("\(line) --help").output)
  }

  @Test func `every help has examples`() throws {
    let all = try commands()
    #expect(all.count > 15)
    for command in all {
      #expect(try session.run("\(command) --help").output.contains("\nExamples:\n  "), "\(command)")
    }
  }

  @Test func `a missing file ends with 66`() throws {
    let lines = [
      "store info missing", "store fetch missing Book", "store export missing", "store check missing",
      "store history missing", "store model missing", "store show missing Book/p1",
      "store flatten missing -o new.db", "store search missing text", "store timeline missing",
      "store diff missing store.sqlite", "store migrate missing --to model --plan",
      "store import missing --model model --output new.sqlite", "store info store.sqlite --model missing",
      "store migrate store.sqlite --to missing --plan", "model show missing", "model check missing",
      "model diff model missing", "model format missing", "model compile missing", "model generate missing",
      "model swiftdata missing", "store swiftdata missing", "model graph missing", "model infer missing",
      "model adopt missing",
      "shootout --stops missing",
    ]
    for line in lines {
      let outcome = try session.run("coredata \(line)")
      #expect(outcome.code == 66, "\(line): \(outcome.error)")
      #expect(outcome.error.contains("missing"))
    }
  }

  @Test func `a file that is something else ends with 65`() throws {
    try session.write("rubbish, line after line\nof it", to: "rubbish")
    let lines = [
      "store info rubbish", "store show rubbish Book/p1", "store flatten rubbish -o new.db",
      "store search rubbish text", "store timeline rubbish", "store diff store.sqlite rubbish",
      "store fetch rubbish Book", "store check rubbish", "store model rubbish",
      "store migrate rubbish --to model --plan", "store info store.sqlite --model rubbish",
      "model show rubbish", "model check rubbish", "model diff rubbish model", "model format rubbish",
      "model compile rubbish", "model generate rubbish", "model swiftdata rubbish",
      "store swiftdata rubbish", "model graph rubbish", "shootout --stops rubbish",
    ]
    for line in lines {
      let outcome = try session.run("coredata \(line)")
      #expect(outcome.code == 65, "\(line): \(outcome.error)")
    }
  }

  @Test func `a misspelt entity ends with 64 and the right one`() throws {
    let lines = [
      "store fetch store.sqlite Bok", "store export store.sqlite --entity Bok",
      "store history store.sqlite --entity Bok", "store show store.sqlite Bok/p1",
      "store search store.sqlite text --entity Bok", "store timeline store.sqlite --entity Bok",
      "store diff store.sqlite store.sqlite --entity Bok", "model generate model --entity Bok",
    ]
    for line in lines {
      let outcome = try session.run("coredata \(line)")
      #expect(outcome.code == 64, "\(line): \(outcome.error)")
      #expect(outcome.error == "error: The model has no entity 'Bok'. Did you mean 'Book'?\n")
    }
  }

  @Test func `a misspelt word ends with 64 and a question`() throws {
    let lines = [
      "stor", "store fech", "model chek", "store fetch store.sqlite Book --whre x", "completion bsh",
    ]
    for line in lines {
      let outcome = try session.run("coredata \(line)")
      #expect(outcome.code == 64)
      #expect(outcome.error.contains(" Did you mean '"), "\(line): \(outcome.error)")
    }
  }

  @Test func `an existing output ends with 73`() throws {
    try session.write("mine", to: "there")
    let lines = [
      "store export store.sqlite -o there", "store flatten store.sqlite -o there",
      "store model store.sqlite -o there",
      "model format model -o there", "model graph model -o there",
      "store import books.ndjson --model model -o there", "store migrate store.sqlite --to model -o there",
      "store check store.sqlite --repair -o there",
    ]
    for line in lines {
      #expect(try session.run("coredata \(line)").code == 73)
      #expect(try session.text("there") == "mine")
    }
  }

  @Test(arguments: [
    "store fetch many.sqlite Book", "store fetch many.sqlite Book --format ndjson",
    "store fetch many.sqlite Book --format csv", "store export many.sqlite",
  ])
  func `a reader of one line does not wait for the rest`(line: String) throws {
    let many = (1...3000).map {
      "{\"$entity\":\"Book\",\"title\":\"\($0) \(String(repeating: "x", count: 200))\"}\n"
    }
    try session.write(many.joined(), to: "many.ndjson")
    _ = try session.run("coredata store import many.ndjson --model model --output many.sqlite")
    let outcome = try session.run("coredata \(line) | head -1; echo ${PIPESTATUS[0]}")
    #expect(outcome.output.hasSuffix("141\n"), "\(outcome.output.suffix(80))")
  }
}

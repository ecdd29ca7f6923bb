import Foundation
import Testing

/// Reading from and writing to pipes and other streams.
@Suite struct StreamTests {
  private let session: ShellSession

  init() throws {
    session = try ShellSession()
    try session.makeStore()
  }

  // MARK: Inputs

  @Test(arguments: ["-", "/dev/stdin"])
  func `an import reads standard input to its end`(input: String) throws {
    let outcome = try session.run(
      "cat books.ndjson | coredata store import \(input) --model model --output second.sqlite")
    #expect(outcome.code == 0)
    #expect(outcome.output == "3 objects written to second.sqlite.\n")
    #expect(try session.run("coredata store fetch second.sqlite Book --count").output == "3\n")
    // The temporary copy of the stream has been removed.
    #expect(session.names == ["books.ndjson", "model", "second.sqlite", "store.sqlite"])
  }

  @Test func `an import reads a FIFO that is written slowly`() throws {
    let outcome = try session.run(
      """
      mkfifo fifo
      { head -1 books.ndjson; sleep 0.2; tail -2 books.ndjson; } > fifo &
      coredata store import fifo --model model --output second.sqlite
      """)
    #expect(outcome.output == "3 objects written to second.sqlite.\n")
  }

  @Test func `an import that fails names the stream and the line`() throws {
    let outcome = try session.run(
      "echo nonsense | coredata store import - --model model --output second.sqlite")
    #expect(outcome.code == 65)
    #expect(outcome.error.hasPrefix("error: standard input:1: "), "\(outcome.error)")
    #expect(!session.names.contains("second.sqlite"))
  }

  @Test func `a store is read from a pipe`() throws {
    let outcome = try session.run("cat store.sqlite | coredata store fetch - Book --count")
    #expect(outcome.output == "3\n", "\(outcome.error)")
  }

  @Test func `a model is read from a pipe`() throws {
    let outcome = try session.run("cat model | coredata model show -")
    #expect(outcome.output.contains("title"), "\(outcome.error)")
    let broken = try session.run("echo '<model' | coredata model show -")
    #expect(broken.code == 65)
    #expect(broken.error.contains("standard input") && !broken.error.contains(".part-"), "\(broken.error)")
  }

  @Test func `source is adopted from standard input to standard output`() throws {
    let outcome = try session.run("echo 'let key = #keyPath(Book.title)' | coredata model adopt - --write")
    #expect(outcome.output == "let key = \"title\"\n")
  }

  // MARK: Outputs

  @Test func `a dash is standard output`() throws {
    let outcome = try session.run(
      "coredata store export store.sqlite --output - | coredata store import - --model model --output - > third.sqlite"
    )
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output == "")
    #expect(try session.run("coredata store fetch third.sqlite Book --count").output == "3\n")
  }

  @Test func `a store with files beside it does not go to standard output`() throws {
    let big = Data(repeating: 7, count: 200_000).base64EncodedString()
    try session.write("{\"$entity\":\"Book\",\"cover\":\"\(big)\"}\n", to: "big.ndjson")
    let outcome = try session.run("coredata store import big.ndjson --model model --output - | cat")
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains("large values"), "\(outcome.error)")
  }

  @Test(arguments: [
    "coredata store export store.sqlite", "coredata store fetch store.sqlite Book",
    "coredata store info store.sqlite", "coredata model show model", "coredata --help", "coredata --version",
    "coredata completion bash",
  ])
  func `a full disk on standard output is an error`(command: String) throws {
    let outcome = try session.run("\(command) > /dev/full")
    #expect(outcome.code == 73)
    #expect(outcome.error == "error: Cannot write standard output: No space left on device.\n")
  }

  @Test func `a closed standard output is an error`() throws {
    #expect(try session.run("coredata model show model >&-").code == 73)
  }

  @Test func `a full disk behind the output option is an error`() throws {
    let outcome = try session.run("coredata store export store.sqlite --output /dev/full")
    #expect(outcome.code == 73)
    #expect(outcome.error == "error: Cannot write '/dev/full': No space left on device.\n")
  }

  @Test(arguments: ["", "trap '' PIPE; "])
  func `a closed pipe ends the tool quietly`(preparation: String) throws {
    try session.write("", to: "log")
    let outcome = try session.run(
      "\(preparation)for i in $(seq 2000); do cat books.ndjson; done | sed 's/\"[$]id\":\"[^\"]*\",//' > many.ndjson\n"
        + "coredata store import many.ndjson --model model --output many.sqlite > /dev/null\n"
        + "coredata store export many.sqlite 2> log | head -1; echo ${PIPESTATUS[0]}")
    #expect(outcome.output.hasSuffix("}\n141\n"), "\(outcome.output)")
    #expect(try session.text("log") == "")
  }
}

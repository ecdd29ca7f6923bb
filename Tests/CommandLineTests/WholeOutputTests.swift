import Foundation
import CoreDataSQLiteBinding
import Testing

/// Outputs appear complete or not at all, and never overwrite files unless asked to.
@Suite struct WholeOutputTests {
  private let session: ShellSession

  init() throws {
    session = try ShellSession()
    try session.makeStore()
  }

  @Test(arguments: [
    "coredata store export store.sqlite --output kept", "coredata store model store.sqlite --output kept",
    "coredata store check store.sqlite --repair --output kept",
    "coredata store import books.ndjson --model model --output kept",
    "coredata model format model --output kept", "coredata model graph model -o kept",
  ])
  func `an existing output is replaced with force only`(command: String) throws {
    try session.write("precious", to: "kept")
    let before = session.names
    let refused = try session.run(command)
    #expect(refused.code == 73)
    #expect(refused.error.contains("There is a file 'kept' already."), "\(refused.error)")
    #expect(try session.text("kept") == "precious")
    #expect(session.names == before)
    let outcome = try session.run(command + " --force")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try session.text("kept") != "precious")
    #expect(session.names == before)
  }

  @Test func `an export leaves another store alone`() throws {
    let outcome = try session.run(
      "cp store.sqlite other.sqlite; coredata store export store.sqlite --output other.sqlite")
    #expect(outcome.code == 73)
    #expect(try session.run("coredata store fetch other.sqlite Book --count").output == "3\n")
  }

  @Test func `an import with force replaces a store with its external data`() throws {
    let big = Data(repeating: 7, count: 200_000).base64EncodedString()
    try session.write("{\"$entity\":\"Book\",\"cover\":\"\(big)\"}\n", to: "big.ndjson")
    let made = try session.run("coredata store import big.ndjson --model model -o big.sqlite")
    #expect(made.code == 0, "\(made.error)")
    #expect(session.names.contains(".big_SUPPORT"))
    let replaced = try session.run("coredata store import books.ndjson --model model -o big.sqlite --force")
    #expect(replaced.code == 0, "\(replaced.error)")
    #expect(try session.run("coredata store fetch big.sqlite Book --count").output == "3\n")
    #expect(try session.run("coredata store check big.sqlite --strict").code == 0)
  }

  @Test func `files of a directory are replaced with force only`() throws {
    let command = "coredata store export store.sqlite --format csv --output books"
    #expect(try session.run(command).code == 0)
    try session.write("precious", to: "books/Book.csv")
    try session.write("another", to: "books/other.txt")
    #expect(try session.run(command).code == 73)
    #expect(try session.text("books/Book.csv") == "precious")
    #expect(try session.run(command + " --force").code == 0)
    #expect(try session.text("books/Book.csv").contains("Book 1"))
    #expect(try session.text("books/other.txt") == "another")
  }

  @Test(arguments: [
    "store export many.sqlite --output half", "store import many.ndjson --model model --output half",
  ])
  func `a disk that fills up leaves nothing`(command: String) throws {
    let made = try session.run(
      "for i in $(seq 3000); do cat books.ndjson; done | sed 's/\"[$]id\":\"[^\"]*\",//' > many.ndjson\n"
        + "coredata store import many.ndjson --model model --output many.sqlite")
    #expect(made.code == 0, "\(made.error)")
    let before = session.names
    // A file size limit simulates a full disk.
    let outcome = try session.run("ulimit -f 64; coredata \(command)")
    #expect(outcome.code == 73, "\(outcome.error)")
    #expect(session.names == before)
  }

  @Test(arguments: [
    (SIGINT, "--output half.sqlite"), (SIGTERM, "--output half.sqlite"), (SIGHUP, "--output half.sqlite"),
    (SIGINT, "--output - > /dev/null"),
  ])
  func `a signal leaves nothing`(signal: Int32, output: String) throws {
    let before = session.names
    // The input never ends, so the tool is waiting for it when the signal arrives.
    #expect(try session.run("mkfifo fifo").code == 0)
    // Shells start background jobs with SIGINT ignored, which the tool would respect.
    let tool = try session.process(
      "exec env --default-signal=INT,TERM,HUP \"$TOOL\" store import fifo --model model \(output)")
    try tool.start()
    let process = tool.process
    let writer = try FileHandle(forWritingTo: session.directory.appendingPathComponent("fifo"))
    try writer.write(contentsOf: Data("{\"$entity\":\"Book\"}\n".utf8))
    // The copy of the stream exists once the tool has started reading.
    while session.names.count <= before.count + 1, process.isRunning { usleep(1000) }
    kill(process.processIdentifier, signal)
    try #expect(tool.wait().code == -signal)
    #expect(session.names == (before + ["fifo"]).sorted())
  }

  @Test func `a signal that is ignored stays ignored`() throws {
    let outcome = try session.run(
      "trap '' HUP\n{ head -1 books.ndjson; kill -HUP $BASHPID; sleep 0.1; } | "
        + "{ coredata store import - --model model -o s.sqlite & kill -HUP $!; wait $!; }")
    #expect(outcome.code == 0)
  }

  // MARK: A store without its log

  @Test func `a new store without its log is named as such`() throws {
    let path = session.path("open.sqlite")
    let connection = try Connection(path: path)
    _ = try connection.pragma("journal_mode = WAL")
    try connection.execute("CREATE TABLE t (a)")
    let outcome = try session.run("cp open.sqlite copy.sqlite; coredata store info copy.sqlite")
    #expect(outcome.code == 65)
    #expect(outcome.error.contains("there is no 'copy.sqlite-wal' beside it"), "\(outcome.error)")
    _ = connection
  }

  @Test func `a truncated store without its WAL file is reported as such`() throws {
    let outcome = try session.run(
      "head -c 12288 store.sqlite > copy.sqlite; coredata store info copy.sqlite")
    #expect(outcome.code == 65)
    #expect(outcome.error.contains("there is no 'copy.sqlite-wal' beside it"), "\(outcome.error)")
  }
}

import CoreDataToolKit
import Synchronization
import Testing

@testable import CoreDataExplorer

/// The explorer with the URL of a store on a server.
@Suite struct ServerStoreTests {
  @Test func `a copy of a store on a server is not edited`() {
    let said = Mutex("")
    let note: @Sendable (String) -> Void = { text in said.withLock { $0 += text } }
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    let environment = ToolEnvironment(
      variables: [:], outputTerminal: terminal, errorTerminal: terminal,
      output: { text throws(ToolFailure) in note(text) }, error: note)
    let code = ExplorerTool.run(
      ["postgresql://me:s3cret@db/shop?schema=x", "--edit"], in: environment)
    #expect(code == .usage)
    let text = said.withLock { $0 }
    #expect(text.contains("'--edit' would change a copy of 'postgresql://me@db/shop?schema=x'"), "\(text)")
  }
}

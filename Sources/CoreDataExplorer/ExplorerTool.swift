import CoreDataToolKit
import Foundation

/// The command line of `coredata-explorer`.
package enum ExplorerTool {
  /// `coredata explore`, which serves a store until the process is terminated.
  package static let command = Command(ExploreSyntax.command) { try _serve($0, $1) }

  package static func run(_ words: [String], in environment: ToolEnvironment) -> ExitCode {
    // 'coredata explore' passes all of its arguments on, including 'explore' itself.
    let words =
      words.first == "explore" || words.first.map { $0.hasPrefix("-") } ?? true ? words : ["explore"] + words
    let tool = CommandLineTool(
      name: CompanionProgram.explorer.name, summary: "A store in the browser.", commands: [command])
    return tool.run(words, in: environment)
  }

  private static func _serve(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    var options = Explorer.Options()
    options.model = arguments.text("model")
    options.against = arguments.text("against")
    options.port = try arguments.integer("port", in: 0...65535) ?? 0
    options.address = arguments.text("listen") ?? "127.0.0.1"
    options.isEditable = arguments.has("edit")
    if let author = arguments.text("author") { options.author = author }
    let isServerStore = ServerStore.isURL(arguments.operands[0])
    guard !isServerStore || !options.isEditable else {
      throw ToolFailure(
        .usage,
        "'--edit' would change a copy of '\(ServerStore.name(arguments.operands[0]))', not the store on the server. Leave it out, or "
          + "change objects by a program.")
    }
    let explorer = try Explorer(arguments.operands[0], options, environment)
    if options.address != "127.0.0.1" {
      environment.error(
        "warning: any machine that reaches \(options.address) and knows the address below can read the store; the connection is not "
          + "encrypted.\n")
    }
    try environment.output("\(explorer.url)\n")
    if arguments.has("open") { Browser.open(explorer.url, environment) }
    environment.error(
      "Serving \(isServerStore ? "a copy of " : "")'\(ServerStore.name(arguments.operands[0]))'\(options.isEditable ? "" : " read-only"). Ctrl-C ends it.\n"
    )
    // Signals end the process.
    while true { Thread.sleep(forTimeInterval: 3600) }
  }
}

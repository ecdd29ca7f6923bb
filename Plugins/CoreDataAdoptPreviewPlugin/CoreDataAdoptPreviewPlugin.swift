import Foundation
import PackagePlugin

/// `swift package coredata-adopt-preview [--target NAME]`: shows the changes that source written for Apple's
/// Core Data needs. Needs no permission: it writes nothing. `coredata-adopt --write` makes the changes.
@main struct CoreDataAdoptPreviewPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) async throws {
    let tool = try context.tool(named: "coredata-codegen").url
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let rest = extractor.remainingArguments
    guard !rest.contains("--write"), !rest.contains("--autoreleasepool") else {
      Diagnostics.error("coredata-adopt-preview writes nothing; use 'swift package coredata-adopt'")
      return
    }
    let targets = names.isEmpty ? context.package.targets : try context.package.targets(named: names)
    let sources = targets.compactMap { $0 as? SwiftSourceModuleTarget }
      .flatMap { $0.sourceFiles(withSuffix: ".swift") }.map { $0.url.path(percentEncoded: false) }
    guard !sources.isEmpty else {
      Diagnostics.warning("no Swift source in the targets chosen")
      return
    }
    let process = Process()
    process.executableURL = tool
    process.arguments = ["adopt"] + rest + sources
    try process.run()
    process.waitUntilExit()
    // 2 means that manual changes remain, which the tool has reported.
    if process.terminationStatus != 0, process.terminationStatus != 2 {
      Diagnostics.error("coredata-codegen adopt ended with status \(process.terminationStatus)")
    }
  }
}

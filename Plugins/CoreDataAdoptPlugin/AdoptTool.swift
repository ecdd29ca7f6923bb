import Foundation
import PackagePlugin

extension PluginContext {
  /// Runs the tool with the Swift sources of the package's targets; of some, if `--target` names them.
  func adopt(_ arguments: [String]) throws {
    let tool = try tool(named: "coredata-codegen").url
    var extractor = ArgumentExtractor(arguments)
    let names = extractor.extractOption(named: "target")
    let targets = names.isEmpty ? package.targets : try package.targets(named: names)
    let sources = targets.compactMap { $0 as? SwiftSourceModuleTarget }
      .flatMap { $0.sourceFiles(withSuffix: ".swift") }.map { $0.url.path(percentEncoded: false) }
    guard !sources.isEmpty else {
      Diagnostics.warning("no Swift source in the targets chosen")
      return
    }
    let process = Process()
    process.executableURL = tool
    process.arguments = ["adopt"] + extractor.remainingArguments + sources
    try process.run()
    process.waitUntilExit()
    // 2 means that manual changes remain, which the tool has reported.
    if process.terminationStatus != 0, process.terminationStatus != 2 {
      Diagnostics.error("coredata-codegen adopt ended with status \(process.terminationStatus)")
    }
  }
}

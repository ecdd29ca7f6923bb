import PackagePlugin

/// `swift package coredata-adopt-preview [--target NAME]`: shows the changes that source written for Apple's
/// Core Data needs. Needs no permission: it writes nothing. `coredata-adopt --write` makes the changes.
@main struct CoreDataAdoptPreviewPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    guard !arguments.contains("--write"), !arguments.contains("--autoreleasepool") else {
      Diagnostics.error("coredata-adopt-preview writes nothing; use 'swift package coredata-adopt'")
      return
    }
    try context.adopt(arguments)
  }
}

import PackagePlugin

/// `swift package coredata-adopt [--write] [--target NAME]`: shows or applies the changes that source written
/// for Apple's Core Data needs. The package manager asks for permission to write;
/// `--allow-writing-to-package-directory`, before the command's name, grants it.
@main struct CoreDataAdoptPlugin: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws { try context.adopt(arguments) }
}

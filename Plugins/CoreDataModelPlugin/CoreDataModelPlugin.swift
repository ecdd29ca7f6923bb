import Foundation
import PackagePlugin

/// Generates the classes of a target's data models and the accessors of its `@NSManaged` declarations, and
/// compiles the models into the target's resources.
///
/// Needs no configuration: it processes every `.xcdatamodeld`, `.xcdatamodel` and `.xcmappingmodel` under the
/// target's directory.
@main struct CoreDataModelPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
    guard let module = target as? SwiftSourceModuleTarget else { return [] }
    let tool = try context.tool(named: "coredata-codegen").url
    let output = context.pluginWorkDirectoryURL
    let models = ModelBundle.all(in: module.directoryURL)
    let sources = module.sourceFiles(withSuffix: ".swift").map(\.url)
      .filter { !$0.path(percentEncoded: false).hasPrefix(output.path(percentEncoded: false)) }
    var commands: [Command] = models.map { model in
      let classes = output.appending(path: "\(model.name)+CoreDataClasses.swift")
      return .buildCommand(
        displayName: "Generating classes of \(model.url.lastPathComponent)", executable: tool,
        arguments: [
          "classes", "--model", model.url.path(percentEncoded: false), "--output",
          classes.path(percentEncoded: false),
        ] + sources.map { $0.path(percentEncoded: false) }, inputFiles: model.files + sources,
        outputFiles: [classes])
    }
    // Compiled, as in a build by Xcode: a program finds the model whether or not the package declares the
    // source as a resource.
    for model in models {
      commands.append(
        _compiling(
          model.url, to: model.compiledName, model.files, ["--module", module.moduleName], tool: tool,
          output: output))
    }
    for mapping in ModelBundle.mappings(in: module.directoryURL) {
      let versions = models.flatMap { ["--versions", $0.url.path(percentEncoded: false)] }
      commands.append(
        _compiling(
          mapping.url, to: mapping.name + ".cdm", mapping.files + models.flatMap(\.files), versions,
          tool: tool,
          output: output))
    }
    commands.append(_accessors(of: module, sources: sources, models: models, tool: tool, output: output))
    return commands
  }

  private func _compiling(
    _ source: URL, to name: String, _ inputs: [URL], _ options: [String] = [], tool: URL, output: URL
  ) -> Command {
    let compiled = output.appending(path: name)
    return .buildCommand(
      displayName: "Compiling \(source.lastPathComponent)", executable: tool,
      arguments: [
        "compile", "--model", source.path(percentEncoded: false), "--output",
        compiled.path(percentEncoded: false),
      ] + options, inputFiles: [source] + inputs, outputFiles: [compiled])
  }

  private func _accessors(
    of module: SwiftSourceModuleTarget, sources: [URL], models: [ModelBundle], tool: URL, output: URL
  ) -> Command {
    let accessors = output.appending(path: "ManagedAccessors.swift")
    var arguments = [
      "accessors", "--module", module.moduleName, "--output", accessors.path(percentEncoded: false),
    ]
    for model in models { arguments += ["--model", model.url.path(percentEncoded: false)] }
    var inputs = sources + models.flatMap(\.files)
    var seen: Set<String> = []
    for dependency in _modules(module.dependencies) where seen.insert(dependency.moduleName).inserted {
      arguments += [
        "--dependency", "\(dependency.moduleName)=\(dependency.directoryURL.path(percentEncoded: false))",
      ]
      inputs += dependency.sourceFiles(withSuffix: ".swift").map(\.url)
    }
    arguments += sources.map { $0.path(percentEncoded: false) }
    return .buildCommand(
      displayName: "Generating managed accessors of \(module.moduleName)", executable: tool,
      arguments: arguments,
      inputFiles: inputs, outputFiles: [accessors])
  }

  /// The modules that a target can name; Core Data's own types are known anyway.
  private func _modules(_ dependencies: [TargetDependency]) -> [SwiftSourceModuleTarget] {
    dependencies.flatMap { dependency -> [SwiftSourceModuleTarget] in
      switch dependency {
      case .target(let target): [target].compactMap { $0 as? SwiftSourceModuleTarget }
      case .product(let product):
        ["CoreData", "CoreDataStacks"].contains(product.name)
          ? [] : product.targets.compactMap { $0 as? SwiftSourceModuleTarget }
      @unknown default: []
      }
    }
  }
}

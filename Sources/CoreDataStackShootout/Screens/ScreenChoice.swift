import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// The screens that a command line asks for.
struct ScreenChoice {
  let screens: [Screen]

  /// - Parameter name: A file of screens, "-", or "model" for those that the model tells.
  /// - Throws: `ToolFailure` for what is no screen of the model.
  init(
    _ name: String, _ input: PreparedInput, _ workload: Workload, _ environment: ToolEnvironment
  ) throws {
    let layout = try ModelLayout(ModelSchema(try input.makeModel()))
    guard name == "model" else {
      let file = try InputFile(path: try SpooledInput(path: name).path)
      var bytes: [UInt8] = []
      while let chunk = try file.nextBytes() { bytes += chunk }
      screens = try ScreenFile(layout, name: name).screens(bytes)
      return
    }
    let told = ScreenInference(layout: layout, listing: try input.listing()).screens()
    screens = told.screens
    for problem in told.problems { environment.error("note: \(problem): no screen of it.\n") }
  }
}

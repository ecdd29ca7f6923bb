import Foundation
import ModelCodegen
import ToolKit

extension Command {
  /// `coredata model adopt`.
  static let adopt = Command(
    CommandSyntax(
      "adopt", summary: "Adapt source written for Apple's Core Data: guard @objc, replace #keyPath.",
      discussion: [
        "Shows the changes as a diff; --write makes them. What takes a person to change (observation of keys, selectors, "
          + "Combine) is listed with its place."
      ],
      options: [
        .flag("write", "Change the files."),
        .value("attributes", "RULE", "What to do with @objc: guard (the default) or strip."),
      ], operands: [CommandSyntax.Operand("PATH", "A Swift file, or a directory of them.")],
      exitCodes: [.success, .usage, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let rule: SourceAdoption.AttributeRule = try arguments.choice("attributes") ?? .guard
    let writes = arguments.has("write")
    var (changed, left) = (0, 0)
    for path in try SourceTree.swiftFiles(in: arguments.operands[0]) {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw ToolFailure(.noInput, "Cannot read '\(path)'.")
      }
      let adoption = SourceAdoption(String(decoding: data, as: UTF8.self), attributes: rule)
      for remark in adoption.remarks {
        environment.output("\(path):\(remark.line):\(remark.column): note: \(remark.message)\n")
      }
      left += adoption.remarks.count
      guard adoption.isChanged else { continue }
      changed += 1
      if writes {
        try OutputFile(path: path).write(adoption.adopted)
      } else {
        environment.output(UnifiedDiff.text(from: adoption.original, to: adoption.adopted, path: path))
      }
    }
    let verb = writes ? "changed" : "to be changed (--write does it)"
    environment.output("\(changed) file(s) \(verb), \(left) place(s) left for a person.\n")
  }
}

/// Swift files under a path.
enum SourceTree {
  static func swiftFiles(in path: String) throws(ToolFailure) -> [String] {
    var isDirectory: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
      throw ToolFailure(.noInput, "There is no '\(path)'.")
    }
    guard isDirectory.boolValue else { return [path] }
    guard let files = FileManager.default.enumerator(atPath: path) else { return [] }
    var found: [String] = []
    for case let file as String in files {
      let name = (file as NSString).lastPathComponent
      if name.hasPrefix(".") {
        files.skipDescendants()
      } else if name.hasSuffix(".swift") {
        found.append("\(path)/\(file)")
      }
    }
    return found.sorted()
  }
}

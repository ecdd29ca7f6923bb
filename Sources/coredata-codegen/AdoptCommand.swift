import CoreDataModelCodegen
import Foundation

/// Shows or applies the changes that sources written for Apple's Core Data need here.
struct AdoptCommand {
  private let _arguments: Arguments

  init(_ arguments: [String]) throws {
    _arguments = try Arguments(arguments, options: ["--attributes", "--autoreleasepool"], flags: ["--write"])
  }

  /// - Returns: 0, or 2 if changes remain to be made by hand.
  func run() throws -> Int32 {
    let spelling = _arguments.values("--attributes").last ?? "guard"
    guard let rule = SourceAdoption.AttributeRule(rawValue: spelling) else {
      throw UsageError(message: "--attributes \(spelling): there are guard and strip")
    }
    guard !_arguments.rest.isEmpty else {
      throw UsageError(message: "adopt: name source files or directories")
    }
    var (changed, left) = (0, 0)
    let sources = try _arguments.rest.flatMap(SourceFiles.swiftFiles).map(SourceFiles.read)
    var survey = AdoptionSurvey(paths: _arguments.rest, sources: sources.map(\.text))
    if let file = _arguments.values("--autoreleasepool").last {
      try Data(AdoptionReport.autoreleasepool.utf8).write(
        to: URL(fileURLWithPath: file), options: .withoutOverwriting)
      survey.add(AdoptionReport.autoreleasepool)
      print("\(file) written.")
    }
    var report = AdoptionReport()
    for source in sources {
      let path = source.path
      let adoption = SourceAdoption(source.text, attributes: rule, survey: survey, path: path)
      let remarks = report.remarks(of: adoption)
      for remark in remarks {
        print("\(path):\(remark.line):\(remark.column): note: \(remark.message)")
      }
      left += remarks.count
      guard adoption.isChanged else { continue }
      changed += 1
      if _arguments.has("--write") {
        try Data(adoption.adopted.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
      } else {
        print(UnifiedDiff.text(from: adoption.original, to: adoption.adopted, path: path), terminator: "")
      }
    }
    let verb = _arguments.has("--write") ? "changed" : "to be changed (--write does it)"
    print(
      "\(changed) \(changed == 1 ? "file" : "files") \(verb), \(left) \(left == 1 ? "place" : "places") left for a person."
    )
    return left > 0 ? 2 : 0
  }
}

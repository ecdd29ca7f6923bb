import CoreDataSwiftLexer

/// Remarks that hold for all their places in a package, or a target, alike: a report shows the first.
struct GeneralRemarks {
  private let _survey: AdoptionSurvey
  private let _path: String?

  init(_ survey: AdoptionSurvey, path: String?) {
    _survey = survey
    _path = path
  }

  func remarks(_ tokens: [SourceToken]) -> [SourceAdoption.Remark] {
    var remarks: [SourceAdoption.Remark] = []
    func add(_ message: String, at token: SourceToken) {
      remarks.append(
        SourceAdoption.Remark(line: token.line, column: token.column, message: message, isGeneral: true))
    }
    if !_survey.declaresFunction("autoreleasepool"), let token = _pool(tokens) {
      add(
        "there are no autorelease pools, and objects go when their last reference goes; '--autoreleasepool FILE' writes a "
          + "function of this name to a file of the target, which runs the closure",
        at: token)
    }
    if let target = _path.flatMap(_survey.targetWithoutPlugin), let token = _managed(tokens) {
      add(
        "the target '\(target)' does not use CoreDataModelPlugin, which writes the accessors of @NSManaged; without it the linker "
          + "misses them (undefined reference). Add it to the target's 'plugins' in Package.swift",
        at: token)
    }
    return remarks
  }

  /// The first call of `autoreleasepool`.
  private func _pool(_ tokens: [SourceToken]) -> SourceToken? {
    tokens.indices.first { index in
      guard tokens[index].text == "autoreleasepool", tokens[index].isName, index + 1 < tokens.count,
        !(index > 0 && (tokens[index - 1].isKeyword("func") || tokens[index - 1].isPunctuation(".")))
      else { return false }
      return tokens[index + 1].isPunctuation("(") || tokens[index + 1].isPunctuation("{")
    }.map { tokens[$0] }
  }

  /// The first `@NSManaged`.
  private func _managed(_ tokens: [SourceToken]) -> SourceToken? {
    tokens.indices.first { index in
      index > 0 && tokens[index].text == "NSManaged" && tokens[index - 1].isPunctuation("@")
    }.map { tokens[$0] }
  }
}

/// Adoptions in the order of a report, in which a general remark is shown once.
package struct AdoptionReport {
  private var _told: Set<String> = []

  package init() {}

  /// The remarks of a file that the report has not shown yet.
  package mutating func remarks(of adoption: SourceAdoption) -> [SourceAdoption.Remark] {
    adoption.remarks.filter { !$0.isGeneral || _told.insert($0.message).inserted }
  }

  /// The text of a file with which calls of `autoreleasepool` compile where there are no pools.
  package static let autoreleasepool = """
    #if !canImport(ObjectiveC)
    func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
    #endif

    """
}

import CoreDataSQLiteBinding
import Foundation

/// Deliberately damaged stores: the checks must detect each of them.
package struct QuestionSeries: TrialSeries {
  package var command: String { "questions" }

  /// A kind of damage.
  package enum Flaw: String, Sendable, CaseIterable {
    case missingSave
    case missingItem
    case missingBatch
    case olderLedger
    case changedText
    case changedBlob
    case missingBlob
    case missingTransaction
    case damagedIndex
    case strayFile
    case foreignFile
  }

  package init() {}

  package func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws {
    for (number, flaw) in Flaw.allCases.enumerated() where turns.isMine(number) {
      report(try Self._report(flaw, place))
    }
  }

  package static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport? {
    try Flaw(rawValue: name).map { try _report($0, place) }
  }

  private static func _report(_ flaw: Flaw, _ place: TrialPlace) throws -> RoundReport {
    let directory = place.newDirectory()
    defer { place.clean(directory) }
    let page = place.page
    page.clear()
    let form = StoreForm(journal: .delete, keepsHistory: true, hasBlobs: true)
    try place.template.copy(.filled, form, isLive: false, to: directory, page)
    let url = directory.appendingPathComponent(StoreTemplate.storeName)
    // Runs the checks on an intact store, then on a damaged one.
    var questions = StoreQuestions(url, form, outcomes: [[0: page.saves(of: 0)]])
    questions.otherFiles = StoreTemplate.files(named: StoreTemplate.otherName)
    let asking = questions
    func ask(spoiling spoil: @escaping () throws -> Void) throws -> ChildProcess.Ending {
      try ChildProcess(page, isLoud: place.isLoud) {
        try spoil()
        try asking.ask(first: .opening)
      }.wait()
    }
    let noticed = try ask { try _spoil(url, flaw) }
    place.clean(directory)
    try place.template.copy(.filled, form, isLive: false, to: directory, page)
    let healthy = try ask {}
    let failure: String?
    switch (noticed, healthy) {
    case (.failed, .finished): failure = nil
    case (_, .finished): failure = "is not noticed"
    default: failure = "a store without a flaw fails: \(healthy.failure ?? "\(healthy)")"
    }
    return RoundReport("questions", "notice each flaw", flaw.rawValue, failure: failure)
  }

  private static func _spoil(_ url: URL, _ flaw: Flaw) throws {
    let directory = url.deletingLastPathComponent().path
    let sql: String
    switch flaw {
    case .missingSave:
      sql = """
        DELETE FROM ZITEM WHERE ZBATCH = (SELECT MAX(Z_PK) FROM ZBATCH);
        DELETE FROM ZBATCH WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZBATCH);
        UPDATE ZLEDGER SET ZLAST = ZLAST - 1
        """
    case .missingItem: sql = "DELETE FROM ZITEM WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZITEM)"
    case .missingBatch:
      sql = """
        DELETE FROM ZITEM WHERE ZBATCH = (SELECT MIN(Z_PK) FROM ZBATCH);
        DELETE FROM ZBATCH WHERE Z_PK = (SELECT MIN(Z_PK) FROM ZBATCH)
        """
    case .olderLedger: sql = "UPDATE ZLEDGER SET ZLAST = ZLAST - 1"
    case .changedText: sql = "UPDATE ZITEM SET ZTEXT = 'x' WHERE Z_PK = (SELECT MAX(Z_PK) FROM ZITEM)"
    case .missingTransaction:
      sql = "DELETE FROM ATRANSACTION WHERE Z_PK = 2; DELETE FROM ACHANGE WHERE ZTRANSACTIONID = 2"
    case .damagedIndex:
      let connection = try Connection(path: url.path, mode: .readOnly)
      let query = "SELECT MAX(rootpage) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'ZITEM'"
      guard case .int(let page) = try connection.firstValue(query) else {
        throw TortureFailure("items have no index")
      }
      let file = try FileHandle(forUpdating: url)
      try file.seek(toOffset: UInt64(page - 1) * 4096)
      try file.write(contentsOf: Data(count: 64))
      return
    case .changedBlob, .missingBlob:
      let blobs = "\(directory)/.Store_SUPPORT/_EXTERNAL_DATA"
      // Older files, if any, belong to deleted batches.
      for name in try FileManager.default.contentsOfDirectory(atPath: blobs) {
        let path = "\(blobs)/\(name)"
        if flaw == .missingBlob { try FileManager.default.removeItem(atPath: path) }
        if flaw == .changedBlob {
          try Data(repeating: 0, count: 103_000).write(to: URL(fileURLWithPath: path))
        }
      }
      return
    case .strayFile:
      try Data().write(to: URL(fileURLWithPath: "\(directory)/.Store.sqlite.staging"))
      return
    case .foreignFile:
      try Data("no store".utf8).write(to: url)
      return
    }
    let connection = try Connection(path: url.path, mode: .readWrite)
    try connection.execute(sql)
  }
}

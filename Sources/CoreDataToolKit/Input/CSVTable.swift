/// The records of a CSV file whose first line names its columns. Empty lines are skipped.
///
/// Not thread-safe.
package final class CSVTable {
  package let columns: [String]
  package let file: InputFile
  private let _reader: CSVReader

  /// Reads the first line; nil for an empty file.
  ///
  /// - Throws: `ToolFailure`.
  package init?(_ file: InputFile) throws(ToolFailure) {
    let reader = CSVReader(file)
    guard let header = try reader.next() else { return nil }
    var columns = header.map { $0 ?? "" }
    // Spreadsheets may write a byte order mark before the first name.
    if columns[0].unicodeScalars.first == "\u{FEFF}" { columns[0].unicodeScalars.removeFirst() }
    (self.columns, self.file, _reader) = (columns, file, reader)
  }

  /// The next record, and its location for messages; nil at the end.
  ///
  /// - Throws: `ToolFailure` with the location, also for another number of fields than of columns.
  package func next() throws(ToolFailure) -> (fields: [String?], place: String)? {
    while true {
      let place = "\(file.path):\(file.line)"
      guard let fields = try _reader.next() else { return nil }
      if fields.count == 1, fields[0] == nil, columns.count > 1 { continue }
      guard fields.count == columns.count else {
        throw ToolFailure(
          .badInput, "\(place): \(counted(fields.count, "field")), but \(counted(columns.count, "column")).")
      }
      return (fields, place)
    }
  }
}

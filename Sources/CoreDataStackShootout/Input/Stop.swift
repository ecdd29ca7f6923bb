/// A place where vehicles stop: one line of the input, and the expected values of one managed object.
package struct Stop: Sendable, Equatable {
  package var identifier: String
  package var name: String
  package var latitude: Double
  package var longitude: Double

  package init(identifier: String, name: String, latitude: Double, longitude: Double) {
    self.identifier = identifier
    self.name = name
    self.latitude = latitude
    self.longitude = longitude
  }
}

/// The contents of an input: its valid rows in order, and counts of the others.
package struct StopFeed: Sendable {
  /// A row that could not be used.
  package struct Problem: Sendable, Equatable {
    /// Line of the file the row starts on; the first is 1.
    package let line: Int
    package let reason: String
  }

  package var stops: [Stop] = []
  /// The first few problems.
  package var problems: [Problem] = []
  /// Rows that could not be used, shown or not.
  package var skippedRows = 0

  package init(stops: [Stop] = []) { self.stops = stops }

  /// Number of rows that an import with find-or-create must produce.
  package var distinctIdentifiers: Int { Set(stops.lazy.map(\.identifier)).count }
}

import CoreDataJSON

/// A diagnostic at a location in the client's source, with a fix-it if there is one.
struct Diagnostic {
  enum Severity: String {
    case error, warning
  }

  /// A place in a file, in bytes from its start.
  struct Place: Hashable {
    let fileName: String
    let range: Range<Int>
  }

  struct FixIt {
    let message: String
    let changes: [(place: Place, text: String)]
  }

  let severity: Severity
  let message: String
  let place: Place
  var fixIts: [FixIt] = []

  var json: JSONValue {
    .members([
      ("message", .string(message)),
      ("severity", .string(severity.rawValue)),
      ("position", Self._position(place)),
      ("highlights", .array([Self._range(place)])),
      ("notes", .array([])),
      (
        "fixIts",
        .array(
          fixIts.map { fixIt in
            .members([
              ("message", .string(fixIt.message)),
              (
                "changes",
                .array(
                  fixIt.changes.map { change in
                    .members([("range", Self._range(change.place)), ("newText", .string(change.text))])
                  })
              ),
            ])
          })
      ),
    ])
  }

  private static func _position(_ place: Place) -> JSONValue {
    .members([("fileName", .string(place.fileName)), ("offset", .integer(place.range.lowerBound))])
  }

  private static func _range(_ place: Place) -> JSONValue {
    .members([
      ("fileName", .string(place.fileName)), ("startOffset", .integer(place.range.lowerBound)),
      ("endOffset", .integer(place.range.upperBound)),
    ])
  }
}

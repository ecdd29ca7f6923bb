import Foundation

/// A model file is unreadable: the problem, its location and a remedy.
package struct ModelFileError: Error, Sendable, CustomStringConvertible {
  package let path: String
  package let line: Int?
  package let column: Int?
  package let reason: String

  package init(path: String, line: Int? = nil, column: Int? = nil, reason: String) {
    self.path = path
    self.line = line
    self.column = column
    self.reason = reason
  }

  package var description: String {
    var place = path
    if let line { place += ":\(line)" }
    if let column { place += ":\(column)" }
    return "\(place): \(reason)"
  }
}

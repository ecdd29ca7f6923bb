import CoreDataCArguments

/// The words after a program's name.
package enum ProgramArguments {
  /// Read from the C library where `/proc` is not mounted, as in a bare root: Swift finds none there.
  package static let words: [String] = {
    let found = CommandLine.arguments
    guard found.isEmpty, let values = coredata_arguments() else { return Array(found.dropFirst()) }
    var words: [String] = []
    var next = values
    while let word = next.pointee {
      words.append(String(cString: word))
      next += 1
    }
    return Array(words.dropFirst())
  }()
}

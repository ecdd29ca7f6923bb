/// A generated call of a method, of which the compiler reports errors at a place in the client's source.
///
/// Only overloads know what a property's type is, and errors in generated source are shown at a distance from it.
struct PlacedCall {
  /// What calls, up to the period before the method.
  let receiver: String
  /// The method with its arguments.
  let method: String

  /// Whole lines, without the last line break.
  func source(at index: Int, in piece: SyntaxPiece) -> String {
    // Any other name would need escapes, and tells the compiler's reader nothing.
    guard let (line, column) = piece.position(of: index), line > 1, !piece.fileName.isEmpty,
      !piece.fileName.utf8.contains(where: {
        $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
      })
    else { return "\(receiver).\(method)" }
    // The compiler names the place of the method's name. Deep columns are no help.
    let indentation = String(repeating: " ", count: min(max(column - 2, 0), 200))
    return """
      #sourceLocation(file: "\(piece.fileName)", line: \(line - 1))
      \(receiver)
      \(indentation).\(method)
      #sourceLocation()
      """
  }
}

extension ModelProperty {
  /// Where errors about the property's type belong: at the type, or the name.
  var placeOfType: Int { binding.type?.lowerBound ?? name.range.lowerBound }
}

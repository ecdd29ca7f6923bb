/// The type of a format argument such as `%@`.
enum FormatSpecifier: Sendable, Hashable {
  /// `%@`: any value, quoted automatically; a collection remains a collection.
  case object
  /// `%K`: a key path.
  case keyPath
  /// `%d %i %u %x %X %o %D %U %hd %lld %zu`…: a whole number of any width.
  case integer
  /// `%f %F %e %E %g %G %a %A`.
  case floatingPoint
  /// `%c %C`: a character code or a one-character string.
  case character
  /// `%s %S`: text.
  case text

  /// Creates the specifier of a conversion letter.
  init?(_ letter: UInt8) {
    switch letter {
    case UInt8(ascii: "@"): self = .object
    case UInt8(ascii: "K"): self = .keyPath
    case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"), UInt8(ascii: "x"), UInt8(ascii: "X"),
      UInt8(ascii: "o"), UInt8(ascii: "D"), UInt8(ascii: "U"), UInt8(ascii: "O"):
      self = .integer
    case UInt8(ascii: "f"), UInt8(ascii: "F"), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "g"),
      UInt8(ascii: "G"), UInt8(ascii: "a"), UInt8(ascii: "A"):
      self = .floatingPoint
    case UInt8(ascii: "c"), UInt8(ascii: "C"): self = .character
    case UInt8(ascii: "s"), UInt8(ascii: "S"): self = .text
    default: return nil
    }
  }

  /// Describes the expected argument, for messages.
  var demand: String {
    switch self {
    case .object: "a value"
    case .keyPath: "a key path as a string"
    case .integer: "a whole number"
    case .floatingPoint: "a number"
    case .character: "a character or its code"
    case .text: "a string"
    }
  }
}

/// The location of an argument in a parsed format.
struct Placeholder: Sendable, Hashable {
  /// Number of the argument from zero.
  let argument: Int
  let specifier: FormatSpecifier
  /// Offset in the format, in UTF-8 bytes.
  let offset: Int

  /// A placeholder in a tree is a variable or key path component whose name starts with a character that is
  /// invalid in formats.
  private static let _mark: UInt8 = 1

  static func name(_ number: Int) -> String { "\u{1}\(number)" }

  /// Returns the number of the placeholder named `name`; nil for an ordinary name.
  @inline(__always)
  static func number(in name: String) -> Int? {
    guard name.utf8.first == _mark else { return nil }
    return Int(name.dropFirst())
  }
}

/// A value given for a placeholder.
package enum FormatArgument: Sendable {
  case value(PredicateValue)
  /// An expression object passed for `%@`, which replaces the placeholder unchanged.
  case expression(ExpressionTree)
}

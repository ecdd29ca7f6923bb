import Foundation

/// Random texts that authenticate the explorer's user against other users of the machine and other pages in
/// the browser.
struct Secrets: Sendable {
  /// Part of the address that the terminal shows; grants access.
  let token = Secrets.random()
  /// In the cookie that the token is exchanged for.
  let session = Secrets.random()
  /// In every form, so that no other page can post one.
  let form = Secrets.random()

  /// 256 bits as hexadecimal digits.
  static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in
      let digits = String(generator.next() as UInt64, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Compares in constant time.
  static func equal(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

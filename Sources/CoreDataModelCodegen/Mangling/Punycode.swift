/// The ASCII spelling of identifiers with other characters, as the Swift compiler writes it into symbols.
///
/// RFC 3492 with "_" as delimiter and the capital letters A-J for its digits.
enum Punycode {
  /// The encoded identifier; nil if it needs no encoding.
  static func encode(_ identifier: String) -> String? {
    let scalars = identifier.unicodeScalars.map { scalar -> UInt32 in
      // ASCII characters that are invalid in symbols are mapped to unused code points.
      scalar.isASCII && !_isSymbolCharacter(scalar) ? 0xD800 + scalar.value : scalar.value
    }
    guard scalars.contains(where: { $0 >= 0x80 }) else { return nil }
    return _encode(scalars)
  }

  private static func _isSymbolCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "$": true
    default: false
    }
  }

  private static func _encode(_ input: [UInt32]) -> String {
    let (base, tMin, tMax): (UInt32, UInt32, UInt32) = (36, 1, 26)
    var (n, delta, bias): (UInt32, UInt32, UInt32) = (0x80, 0, 72)
    var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
    let basicCount = UInt32(output.count)
    var handled = basicCount
    if basicCount > 0 { output.append(UInt8(ascii: "_")) }
    while handled < input.count {
      let next = input.filter { $0 >= n }.min()!
      delta += (next - n) * (handled + 1)
      n = next
      for code in input {
        if code < n { delta += 1 }
        guard code == n else { continue }
        var q = delta
        var k = base
        while true {
          let t = k <= bias ? tMin : k >= bias + tMax ? tMax : k - bias
          if q < t { break }
          output.append(_digit(t + (q - t) % (base - t)))
          q = (q - t) / (base - t)
          k += base
        }
        output.append(_digit(q))
        bias = _adapt(delta, points: handled + 1, isFirst: handled == basicCount)
        delta = 0
        handled += 1
      }
      delta += 1
      n += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  private static func _digit(_ value: UInt32) -> UInt8 {
    value < 26 ? UInt8(ascii: "a") + UInt8(value) : UInt8(ascii: "A") + UInt8(value - 26)
  }

  private static func _adapt(_ delta: UInt32, points: UInt32, isFirst: Bool) -> UInt32 {
    var delta = isFirst ? delta / 700 : delta / 2
    delta += delta / points
    var k: UInt32 = 0
    while delta > ((36 - 1) * 26) / 2 {
      delta /= 35
      k += 36
    }
    return k + 36 * delta / (delta + 38)
  }
}

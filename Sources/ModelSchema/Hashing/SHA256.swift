/// SHA-256 (FIPS 180-4), for version hashes; messages are short, so it takes them whole or in parts.
package struct SHA256 {
  private var _state: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
  ]
  private var _pending: [UInt8] = []
  private var _length: UInt64 = 0

  package init() { _pending.reserveCapacity(64) }

  /// The hash of a whole message: 32 bytes.
  package static func hash(_ message: some Sequence<UInt8>) -> [UInt8] {
    var hasher = SHA256()
    hasher.update(message)
    return hasher.finalize()
  }

  /// Adds bytes to the message.
  package mutating func update(_ bytes: some Sequence<UInt8>) {
    for byte in bytes {
      _pending.append(byte)
      _length &+= 1
      if _pending.count == 64 { _compress() }
    }
  }

  /// Ends the message and returns its hash: 32 bytes.
  package mutating func finalize() -> [UInt8] {
    let bits = _length &* 8
    _pending.append(0x80)
    if _pending.count == 64 { _compress() }
    while _pending.count != 56 {
      _pending.append(0)
      if _pending.count == 64 { _compress() }
    }
    for shift in stride(from: 56, through: 0, by: -8) {
      _pending.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
    }
    _compress()
    return _state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
  }

  private mutating func _compress() {
    var w = [UInt32](repeating: 0, count: 64)
    for i in 0..<16 {
      w[i] = (0..<4).reduce(0) { $0 << 8 | UInt32(_pending[i * 4 + $1]) }
    }
    for i in 16..<64 {
      let s0 = Self._rotate(w[i - 15], 7) ^ Self._rotate(w[i - 15], 18) ^ (w[i - 15] >> 3)
      let s1 = Self._rotate(w[i - 2], 17) ^ Self._rotate(w[i - 2], 19) ^ (w[i - 2] >> 10)
      w[i] = w[i - 16] &+ s0 &+ w[i - 7] &+ s1
    }
    var (a, b, c, d) = (_state[0], _state[1], _state[2], _state[3])
    var (e, f, g, h) = (_state[4], _state[5], _state[6], _state[7])
    for i in 0..<64 {
      let s1 = Self._rotate(e, 6) ^ Self._rotate(e, 11) ^ Self._rotate(e, 25)
      let t1 = h &+ s1 &+ ((e & f) ^ (~e & g)) &+ Self._constants[i] &+ w[i]
      let s0 = Self._rotate(a, 2) ^ Self._rotate(a, 13) ^ Self._rotate(a, 22)
      let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
      (h, g, f, e, d, c, b, a) = (g, f, e, d &+ t1, c, b, a, t1 &+ t2)
    }
    for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { _state[index] &+= word }
    _pending.removeAll(keepingCapacity: true)
  }

  private static func _rotate(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word >> count | word << (32 - count)
  }

  private static let _constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}

import Foundation

/// The digest that the workload's text states, for comparing and for nothing else.
struct MD5 {
  private var _state: (UInt32, UInt32, UInt32, UInt32) = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476)
  private var _rest: [UInt8] = []
  private var _count = 0

  private static let _constants = (0..<64).map { UInt32(Int64(abs(sin(Double($0 + 1))) * 4_294_967_296)) }
  private static let _shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    _count += bytes.count
    _rest.append(contentsOf: bytes)
    // Worked off in large pieces: taking 64 bytes at a time off the front would move the rest each time.
    if _rest.count >= 1 << 16 { _workOff() }
  }

  /// The digest of everything so far, in hexadecimal.
  mutating func finish() -> String {
    let bits = UInt64(_count) * 8
    _rest.append(0x80)
    while _rest.count % 64 != 56 { _rest.append(0) }
    for k in 0..<8 { _rest.append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(k)))) }
    _workOff()
    return [_state.0, _state.1, _state.2, _state.3].map { word in
      (0..<4).map { k in
        let digits = String((word >> (8 * UInt32(k))) & 0xFF, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
    }.joined()
  }

  private mutating func _workOff() {
    let whole = _rest.count / 64 * 64
    var state = _state
    _rest.withUnsafeBytes { bytes in
      for start in Swift.stride(from: 0, to: whole, by: 64) {
        Self._mix(&state, UnsafeRawBufferPointer(rebasing: bytes[start..<start + 64]))
      }
    }
    _state = state
    _rest.removeFirst(whole)
  }

  private static func _mix(_ state: inout (UInt32, UInt32, UInt32, UInt32), _ block: UnsafeRawBufferPointer) {
    var (a, b, c, d) = state
    for i in 0..<64 {
      let mixed: UInt32
      let word: Int
      switch i / 16 {
      case 0: (mixed, word) = ((b & c) | (~b & d), i)
      case 1: (mixed, word) = ((d & b) | (~d & c), (5 * i + 1) % 16)
      case 2: (mixed, word) = (b ^ c ^ d, (3 * i + 5) % 16)
      default: (mixed, word) = (c ^ (b | ~d), (7 * i) % 16)
      }
      let value = UInt32(littleEndian: block.loadUnaligned(fromByteOffset: word * 4, as: UInt32.self))
      let sum = a &+ mixed &+ _constants[i] &+ value
      let shift = _shifts[i / 16 * 4 + i % 4]
      (a, d, c, b) = (d, c, b, b &+ ((sum << shift) | (sum >> (32 - shift))))
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d)
  }
}

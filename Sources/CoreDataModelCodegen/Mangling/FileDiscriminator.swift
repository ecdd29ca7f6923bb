/// The discriminator of private declarations in symbols: a hash of module and file name.
enum FileDiscriminator {
  /// The discriminator of private declarations in a file.
  ///
  /// - Parameter file: The file's name without directories.
  static func make(module: String, file: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = [UInt8(ascii: "_")]
    for byte in _md5(Array((module + file).utf8)) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let _shifts: [UInt32] = [
    7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21,
  ]

  /// RFC 1321's sine table: floor(2^32 * |sin(i + 1)|).
  private static let _sines: [UInt32] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
  ]

  private static func _md5(_ message: [UInt8]) -> [UInt8] {
    var bytes = message + [0x80]
    bytes.append(contentsOf: repeatElement(0, count: (56 - bytes.count % 64 + 64) % 64))
    let bitCount = UInt64(message.count) * 8
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: bitCount >> shift))
    }
    var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
    for block in stride(from: 0, to: bytes.count, by: 64) {
      let words = (0..<16).map { word in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[block + word * 4 + $1]) << UInt32($1 * 8) }
      }
      var (a, b, c, d) = (state[0], state[1], state[2], state[3])
      for i in 0..<64 {
        let (f, g): (UInt32, Int) =
          switch i / 16 {
          case 0: ((b & c) | (~b & d), i)
          case 1: ((d & b) | (~d & c), (5 * i + 1) % 16)
          case 2: (b ^ c ^ d, (3 * i + 5) % 16)
          default: (c ^ (b | ~d), (7 * i) % 16)
          }
        let sum = f &+ a &+ _sines[i] &+ words[g]
        let shift = _shifts[i / 16 * 4 + i % 4]
        (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
      }
      state = [state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d]
    }
    return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
  }
}

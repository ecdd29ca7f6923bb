import Foundation
import Testing

@testable import ModelFiles

@Suite("Unpacking DEFLATE")
struct InflateTests {
  private func unpacked(_ bytes: [UInt8], limit: Int = 1_000) throws -> String {
    String(decoding: try Inflate.unpack(Data(bytes), limit: limit), as: UTF8.self)
  }

  @Test func `Stored, fixed and dynamic blocks unpack`() throws {
    #expect(try unpacked([1, 2, 0, 0xFD, 0xFF, 0x68, 0x69]) == "hi")
    #expect(try unpacked([0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0xC0, 0x20, 0x01]) == "hello hello hello hello ")
    let packed = try #require(Data(base64Encoded: Self.dynamic))
    let lines = try unpacked([UInt8](packed), limit: 10_000).split(separator: "\n")
    #expect(lines.count == 100)
    #expect(lines[99] == "line 99 of 100: 4950")
  }

  @Test func `More than was allowed is refused`() {
    let error = #expect(throws: Inflate.Failure.self) {
      try Inflate.unpack(Data([0xCB, 0x48, 0xCD, 0xC9, 0xC9, 0x57, 0xC8, 0xC0, 0x20, 0x01]), limit: 20)
    }
    #expect(error?.reason.contains("more than 20 bytes") == true)
  }

  @Test func `Damage anywhere ends with an answer or an error`() throws {
    let packed = [UInt8](try #require(Data(base64Encoded: Self.dynamic)))
    for position in packed.indices {
      for bit in 0..<8 {
        var damaged = packed
        damaged[position] ^= 1 << UInt8(bit)
        _ = try? Inflate.unpack(Data(damaged), limit: 100_000)
      }
      #expect(throws: Inflate.Failure.self) { try Inflate.unpack(Data(packed.prefix(position)), limit: 100_000) }
    }
  }

  /// A hundred lines, packed with codes of their own.
  private static let dynamic = 
    "VZVLbmUxCETnWcVbgm3+vZ9EihR173+WtC5lKlMkAweK8tfn3/fXev37eO21/rzW29f/wL6B/QTODcgTkBvwJ6Dz"
    + "pJPYROyJ+I2czhsTySeSU6kz141o59nTsCE0LXu/29N0dPI9bVd3sLlxJKPWD0YyzW90toMQezB7AHagxiDs6nxn"
    + "0TAQG4gjmPxQHNQ4g3GieznDIQv5hkNOs53hEEON4RCM6gyHLtSgVUjnk+FQR2w4tPqtDIdh1zIc5t2LDIcV8g2H"
    + "S7OJ08JRYzhiQajDEYoaRcrofDociZ3rcCT60+Eo1FCSleIehqOwcyVdLQxQSVgrUYWUtTEuJWlt7F1JWwdLtkXB"
    + "QJCuWk4/t0NB7N6GZyuEaHQomsjJR644fCIy7N+IyCFk+3UsKEREEZ3TiSihASeixEE7ERUKOV3M2t2SKwWhAze6"
    + "SxiOk3Md9OlkXgej86QThhZ8iI7CDIMM4M4zyAHM+nmQBTjEEOwBC3ZKRIG9BxGlNWYQUUEMEewhPbogR776jCGS"
    + "7Z0zF9kNxJBDJALbT/pPFIVSKJjdUpKtGcSQ5GuOHyDJ2O6lJxHl/WKIqCCGJG9b+AiKzG3BjYrcbaPPGiK9Yigh"
    + "v8RnUEOk1zHL6JPDPMvZWlFoiDQg7yKzTrh6EVH97P0b"
}

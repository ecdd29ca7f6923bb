import CoreData
import CoreDataToolKit
import Foundation

/// A way to damage a compiled model.
package enum ModelMutation: String, CaseIterable, Sendable {
  case flippedBytes
  case flippedReferences
  case flippedTrailer
  case truncated
  case repeatedPart
  case longNames
  case nestedArchive
  case cyclicArchive
  case otherFile

  /// Creates a damaged model at `target`, from a copy of `original` if the kind of mutation needs one.
  package func make(_ target: URL, from original: URL, _ numbers: inout SeededRandom) throws {
    var bytes = try Data(contentsOf: original)
    switch self {
    case .flippedBytes:
      for _ in 0..<Int.random(in: 1...64, using: &numbers) {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= UInt8.random(in: 1...255, using: &numbers)
      }
    case .flippedReferences: Self._redirect(&bytes, &numbers)
    case .flippedTrailer:
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        bytes[bytes.count - Int.random(in: 1...32, using: &numbers)] = UInt8.random(
          in: 0...255, using: &numbers)
      }
    case .truncated: bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &numbers))
    case .repeatedPart:
      let first = Int.random(in: 0..<bytes.count, using: &numbers)
      let part = bytes[first..<min(bytes.count, first + Int.random(in: 1...400, using: &numbers))]
      bytes.replaceSubrange(first..<first, with: Data(part))
    case .longNames: Self._rename(&bytes, &numbers)
    case .nestedArchive: bytes = try Self._nested(depth: Int.random(in: 10...20_000, using: &numbers))
    case .cyclicArchive: bytes = Self._cyclic(&numbers)
    case .otherFile:
      bytes = Data(
        (0..<Int.random(in: 0...3000, using: &numbers)).map { _ in UInt8.random(in: 0...255, using: &numbers)
        })
      if Bool.random(using: &numbers) { bytes = Data("bplist00".utf8) + bytes }
    }
    try bytes.write(to: target)
  }

  /// Redirects UIDs, which are the references within the archive.
  private static func _redirect(_ bytes: inout Data, _ numbers: inout SeededRandom) {
    // 0x80 and 0x81 mark UIDs of one and two bytes; damage to other bytes with these values is as good.
    let places = bytes.indices.filter { bytes[$0] == 0x80 || bytes[$0] == 0x81 }.filter {
      $0 + 1 < bytes.count
    }
    guard !places.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...24, using: &numbers) {
      let (one, other) = (places.randomElement(using: &numbers)!, places.randomElement(using: &numbers)!)
      bytes[one + 1] =
        Bool.random(using: &numbers) ? bytes[other + 1] : UInt8.random(in: 0...255, using: &numbers)
    }
  }

  /// Changes letters of names, so that they denote other classes, keys and properties.
  private static func _rename(_ bytes: inout Data, _ numbers: inout SeededRandom) {
    let letters = bytes.indices.filter { (UInt8(ascii: "A")...UInt8(ascii: "z")).contains(bytes[$0]) }
    guard !letters.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...80, using: &numbers) {
      bytes[letters.randomElement(using: &numbers)!] = bytes[letters.randomElement(using: &numbers)!]
    }
  }

  /// A property list of nested arrays.
  private static func _nested(depth: Int) throws -> Data {
    // Written by hand: Foundation's writer recurses.
    var objects = Data("bplist00".utf8)
    var offsets: [Int] = []
    for level in 0..<depth {
      offsets.append(objects.count)
      objects += [0xA1, UInt8((level + 1) >> 8 & 0xFF), UInt8((level + 1) & 0xFF)]
    }
    offsets.append(objects.count)
    objects += [0xA0]
    return _finished(objects, offsets)
  }

  /// A property list with circular references.
  private static func _cyclic(_ numbers: inout SeededRandom) -> Data {
    let count = Int.random(in: 2...40, using: &numbers)
    var objects = Data("bplist00".utf8)
    var offsets: [Int] = []
    for _ in 0..<count {
      offsets.append(objects.count)
      let width = Int.random(in: 1...14, using: &numbers)
      objects += [0xA0 | UInt8(width)]
      for _ in 0..<width { objects += [0, UInt8.random(in: 0..<UInt8(count), using: &numbers)] }
    }
    return _finished(objects, offsets)
  }

  private static func _finished(_ objects: Data, _ offsets: [Int]) -> Data {
    var result = objects
    for offset in offsets { result += (0..<4).reversed().map { UInt8(offset >> ($0 * 8) & 0xFF) } }
    func number(_ value: Int) -> [UInt8] { (0..<8).reversed().map { UInt8(value >> ($0 * 8) & 0xFF) } }
    result += [0, 0, 0, 0, 0, 0, 4, 2] + number(offsets.count) + number(0) + number(objects.count)
    return result
  }
}

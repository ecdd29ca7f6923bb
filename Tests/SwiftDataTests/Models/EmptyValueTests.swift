import Foundation
import Testing

@testable import SwiftData

/// The values shown for required properties whose stored value cannot be read.
@Suite struct EmptyValueTests {
  private struct Nested: Codable, Equatable {
    var text: String
    var inner: Inner
    var list: [Inner]
    var table: [String: Int]
    var maybe: Inner?
    var flag: Bool

    struct Inner: Codable, Equatable { var number: Double }
  }

  private enum Choice: Codable, Equatable { case picture(Data, caption: String), text(String) }
  private enum Letter: String, Codable { case a, b }

  /// Reads its values one by one.
  private struct Pair: Codable, Equatable {
    var left: Int
    var right: String

    init(from decoder: any Decoder) throws {
      var values = try decoder.unkeyedContainer()
      #expect(values.isAtEnd && values.count == 0)
      left = try values.decode(Int.self)
      right = try values.decode(String.self)
      #expect(try !values.decodeNil())
      _ = try values.superDecoder()
      var more = try values.nestedUnkeyedContainer()
      #expect(try more.decode(Bool.self) == false)
      let named = try values.nestedContainer(keyedBy: Key.self)
      #expect(try named.decode(Int8.self, forKey: .name) == 0)
    }

    enum Key: CodingKey { case name }
  }

  /// Reads its values below keys, and through another decoder.
  private struct Deep: Codable, Equatable {
    var number: Int
    var name: String

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Pair.Key.self)
      #expect(values.contains(.name) && values.allKeys.isEmpty)
      #expect(try !values.decodeNil(forKey: .name))
      number = try values.nestedContainer(keyedBy: Pair.Key.self, forKey: .name).decode(
        Int.self, forKey: .name)
      var list = try values.nestedUnkeyedContainer(forKey: .name)
      name = try list.decode(String.self)
      let single = try values.superDecoder(forKey: .name).singleValueContainer()
      #expect(!single.decodeNil())
      #expect(try single.decode(UInt.self) == 0)
      #expect(try values.superDecoder().singleValueContainer().decode(Double.self) == 0)
    }
  }

  private final class Endless: Codable { var next: Endless }

  private struct Choosy: Codable {
    init(from decoder: any Decoder) throws {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "none will do"))
    }
  }

  @Test func `a structure has empty members`() {
    let empty = EmptyDecoder.decode(Nested.self) as? Nested
    #expect(
      empty
        == Nested(text: "", inner: .init(number: 0), list: [], table: [:], maybe: nil, flag: false))
  }

  @Test func `an enumeration is a case of its own`() {
    #expect(EmptyDecoder.decode(Letter.self) as? Letter == .a)
    #expect(EmptyDecoder.decode(Choice.self) as? Choice == .picture(Data(), caption: ""))
  }

  @Test func `a type that decodes in its own way is served`() {
    #expect(
      (EmptyDecoder.decode(Pair.self) as? Pair).map { [$0.left == 0, $0.right.isEmpty] } == [true, true])
    #expect(
      (EmptyDecoder.decode(Deep.self) as? Deep).map { [$0.number == 0, $0.name.isEmpty] } == [true, true])
  }

  @Test func `what contains itself and what accepts nothing has no empty value`() {
    #expect(EmptyDecoder.decode(Endless.self) == nil)
    #expect(EmptyDecoder.decode(Choosy.self) == nil)
  }
}

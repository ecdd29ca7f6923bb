import SwiftData
import Testing

/// Values of every type are read back unchanged in another context.
struct ValueTests {
  /// Stores a volume and returns what another context finds.
  private func _stored(_ change: (Volume) -> Void) throws -> (Volume, ModelContext) {
    let context = try ModelContext.ofShelves()
    let volume = Volume(title: "One")
    change(volume)
    context.insert(volume)
    try context.save()
    let other = ModelContext(context.container)
    return (try #require(try other.fetch(FetchDescriptor<Volume>()).first), other)
  }

  @Test func `numbers come back`() throws {
    let (volume, context) = try _stored {
      $0.pages = -12
      $0.weight = 1.5
      $0.small = -300
      $0.byte = 255
      $0.large = .max
      $0.price = 9.99
    }
    withExtendedLifetime(context) {
      #expect(volume.pages == -12 && volume.weight == 1.5 && volume.small == -300 && volume.byte == 255)
      #expect(volume.large == .max && volume.price == 9.99)
    }
  }

  @Test func `dates, URLs and data come back`() throws {
    let (date, link, cover) = (Date(timeIntervalSince1970: 1.25), URL(string: "https://a.b/c"), Data([1, 2]))
    let (volume, context) = try _stored {
      $0.bought = date
      $0.link = link
      $0.cover = cover
    }
    withExtendedLifetime(context) {
      #expect(volume.bought == date && volume.link == link && volume.cover == cover)
    }
  }

  @Test func `an enumeration with raw values comes back`() throws {
    let (volume, context) = try _stored { $0.kind = .manual }
    withExtendedLifetime(context) { #expect(volume.kind == .manual) }
  }

  @Test(arguments: [VolumeState.lent(to: "Ann"), .lost, .sold(2, 3), nil])
  func `an enumeration with payloads comes back`(_ state: VolumeState?) throws {
    let (volume, context) = try _stored { $0.state = state }
    withExtendedLifetime(context) { #expect(volume.state == state) }
  }

  @Test func `a structure with a structure inside comes back`() throws {
    let size = VolumeSize(width: 3, height: 4, note: "big", fold: .init(count: 5, kind: .outer))
    let (volume, context) = try _stored { $0.size = size }
    withExtendedLifetime(context) { #expect(volume.size == size) }
  }

  @Test func `a member of a structure may be nil`() throws {
    let (volume, context) = try _stored { _ in }
    withExtendedLifetime(context) { #expect(volume.size.note == nil && volume.size.width == 1) }
  }

  @Test func `arrays and dictionaries come back`() throws {
    let (volume, context) = try _stored {
      $0.tags.append("a")
      $0.tags.append("b")
      $0.marks["x"] = 3
    }
    withExtendedLifetime(context) { #expect(volume.tags == ["a", "b"] && volume.marks == ["x": 3]) }
  }

  @Test func `nil comes back as nil`() throws {
    let (volume, context) = try _stored { _ in }
    withExtendedLifetime(context) {
      #expect(volume.price == nil && volume.bought == nil && volume.state == nil && volume.link == nil)
    }
  }

  @Test func `appending in place marks the model changed`() throws {
    let (volume, context) = try _stored { _ in }
    volume.tags.append("new")
    #expect(context.hasChanges && volume.hasChanges)
    try context.save()
    #expect(try context.stored(Volume.self).map(\.tags) == [["new"]])
  }

  @Test func `a transient value stays with its instance`() throws {
    let (volume, context) = try _stored { _ in }
    volume.isOpen = true
    let again = try context.fetch(FetchDescriptor<Volume>())
    #expect(again.map(\.isOpen) == [true] && volume.isOpen)
    #expect(try context.stored(Volume.self).map(\.isOpen) == [false])
  }
}

// swift-format-ignore-file
import SwiftData

@Model class Vehicle {
  var name: String
  var wheels = 4
  init(name: String) { self.name = name }
}

@available(iOS 26, macOS 26, *)
@Model class Car: Vehicle {
  var doors: Int
  @Relationship var trailer: Trailer?
  init(name: String, doors: Int) {
    self.doors = doors
    super.init(name: name)
  }
}

@Model final class Taxi: Car {
  let license: String
  @Attribute(.unique) var number: Int?
  @Transient var isFree = true
  init(license: String) {
    self.license = license
    super.init(name: "taxi", doors: 4)
    number = 1
  }
}

@Model final class Trailer: Vehicle {
  override init(name: String) { super.init(name: name) }
}

@Model public class PublicBase {
  public var a: Int
  public init(a: Int) { self.a = a }
}

@Model public final class PublicDerived: PublicBase {
  public var b: String
  public init(b: String) {
    self.b = b
    super.init(a: 1)
  }
}

@Model class Root {
  var a = 1
  init() {}
}

@Model final class Leaf: Vehicle, CustomStringConvertible {
  var description: String { name }
  init() { super.init(name: "leaf") }
}

protocol Named: PersistentModel { var name: String { get } }

@Model final class Person: Named {
  var name: String
  init(name: String) { self.name = name }
}

@Model final class Town: Named, Comparable {
  var name: String
  init(name: String) { self.name = name }
  static func < (left: Town, right: Town) -> Bool { left.name < right.name }
}

@Model final class SendableTown: @unchecked Sendable, Comparable {
  @Attribute(.unique) public private(set) var id: String
  init(id: String) { self.id = id }
  static func < (left: SendableTown, right: SendableTown) -> Bool { left.id < right.id }
}

@Model final class Own: Identifiable, Equatable, Hashable, CustomDebugStringConvertible {
  var id: Int
  init(id: Int) { self.id = id }
  static func == (left: Own, right: Own) -> Bool { left.id == right.id }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
  var debugDescription: String { "\(id)" }
}

@Model final class Object: NSObject {
  var a = 1
  override init() { super.init() }
}

// swift-format-ignore-file
import SwiftData

protocol Shape: Codable {}
struct Square: Shape {}
struct Unstorable { var a = 1 }

@Model final class Types {
  var function: () -> Void
//              ^ error: A store can't hold 'function', which is a function
  let constant: (Int) -> Int
//              ^ error: A store can't hold 'constant', which is a function
  var functions: [() -> Int]? = nil
//               ^ error: A store can't hold 'functions', which is a function
  var tuple: (Int, Int) = (1, 2)
//           ^ error: A store can't hold 'tuple', which is a tuple; declare a Codable struct
  var labelled: [(x: Int, y: Int)] = []
//              ^ error: A store can't hold 'labelled', which is a tuple; declare a Codable struct
  var existential: any Shape
//                 ^ error: A store can't hold 'existential', which is an existential; name a concrete type
  var dictionary: [String: any Codable] = [:]
//                ^ error: A store can't hold 'dictionary', which is an existential; name a concrete type
  var metatype: Int.Type = Int.self
//              ^ error: A store can't hold 'metatype', which is a type
  var anything: Any
//              ^ error: A store can't hold 'anything', which is an existential; name a concrete type
  var object: AnyObject?
//            ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  var task: Task<Void, Never>?
//          ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  var pointer: UnsafePointer<Int>?
//             ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  var void: Void = ()
//          ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  init() {
    function = {}
    constant = { $0 }
    existential = Square()
    anything = 1
  }
}

@Model final class Named {
  var variable: Unstorable
//              ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  let constant: Unstorable
//              ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  private(set) var optional: Unstorable? = nil
//                           ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  var list: [Unstorable] = []
//          ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  var inferred = Unstorable()
//    ^ error: A stored property's type has to conform to Codable or to be a model, an optional one or an array of them; '@Transient' keeps the property in memory
  init(_ value: Unstorable) {
    variable = value
    constant = value
  }
}

@Model final class Stored {
  weak var parent: Parent?
//^ error: A relationship refers to a row, so 'parent' can't be 'weak'
  unowned var owner: Parent
//^ error: A relationship refers to a row, so 'owner' can't be 'unowned'
  var first = 1, second = 2
//^ error: A model's properties need accessors each; declare 'first' on its own
  var (third, fourth) = (3, 4)
//    ^ error: A stored property of a model is declared by its name; declare each on its own
  @Transient var missing: Int
//               ^ error: '@Transient' requires a value or an optional type: fetched objects don't pass through the initializers that set 'missing'
  @Transient let optional: Int?
//               ^ error: '@Transient' requires a value: fetched objects don't pass through the initializers that set 'optional'
  init(owner: Parent) {
    self.owner = owner
    missing = 1
    optional = nil
  }
}

@Model final class Attributes {
  @Attribute(.unique) var computed: Int { 1 }
//^ error: '@Attribute' requires a stored property, but 'computed' is a computed property
  @Relationship var related: [Parent] { [] }
//^ error: '@Relationship' requires a stored property, but 'related' is a computed property
  @Attribute static let fixed = 1
//^ error: '@Attribute' requires a stored property, but 'fixed' is a static property
  @Attribute lazy var late = 1
//^ error: '@Attribute' requires a stored property, but 'late' is a lazy property, which isn't stored
  @Attribute(.unique) func method() {}
//^ error: '@Attribute' requires a stored property, not 'func'
  @Attribute(.unique) @Attribute(originalName: "x") var twice = 1
//                    ^ error: '@Attribute' stands twice at one property; write its arguments in one
  @Transient @Attribute(.unique) var kept = 1
//           ^ error: '@Attribute' describes what is stored, and '@Transient' keeps the property out of the store
  @Relationship @Transient var unrelated: Parent?
//^ error: '@Relationship' describes what is stored, and '@Transient' keeps the property out of the store
  @Attribute(.unique) var list: [String] = []
//           ^ error: '.unique' requires a value that a store can compare, but 'list' is a collection
  @Attribute(.unique, .ephemeral) var passing = 1
//           ^ error: '.unique' compares stored values, and '.ephemeral' keeps 'passing' out of the store
  @Attribute(originalName: "") var nameless = 1
//           ^ error: 'originalName' is the name of a stored property and can't be empty
  @Attribute(originalName: "y") var one = 1
  @Attribute(originalName: "y") var two = 1
//                         ^ error: 'one' already continues the stored property 'y'
  @Relationship(deleteRule: .cascade) var text: String = ""
//                                              ^ error: '@Relationship' requires a model, an optional one or an array of them; '@Attribute' is for values
  @Relationship(inverse: \Parent.a) let unchanging: Parent
//^ error: A relationship changes with its inverse, so 'unchanging' has to be a variable
  @Relationship(minimumModelCount: 3, maximumModelCount: 2) var counted: [Parent] = []
//              ^ error: At least 3 and at most 2 is no count that 'counted' can have
  @Relationship(inverse: \Attributes.itself) var itself: [Attributes] = []
//              ^ error: 'itself' can't be its own inverse
  init(unchanging: Parent) { self.unchanging = unchanging }
}

@Model final class Reflexive {
  @Relationship(inverse: \Reflexive.parent) var children: [Reflexive] = []
  @Relationship(inverse: \Reflexive.children) var parent: Reflexive?
//              ^ error: 'parent' and 'children' name each other as inverse; give it on one side only
  init() {}
}

@Model final class Shelf {
  @Relationship(inverse: \Volume.shelf) var volumes: [Volume] = []
  init() {}
}

@Model final class Volume {
  @Relationship(inverse: \Shelf.volumes) var shelf: Shelf?
//              ^ error: 'Volume.shelf' and 'Shelf.volumes' name each other as inverse; give it on one side only
  init() {}
}

@Model final class Misspelled {
  #Unique<Misspelled>([\.nmae])
//                       ^ error: '#Unique' requires stored properties, but 'Misspelled' declares no 'nmae'; did you mean 'name'?
  #Index([\.name])
//^ error: '#Index' requires the class in angle brackets: '#Index<Misspelled>'
  var name = ""
  init() {}
}

@Model final class Constraints {
  #Unique<Constraints>([\.a], [\.c])
//                               ^ error: '#Unique' requires stored properties, but 'c' is transient
  #Unique<Constraints>([\.b])
//^ error: A model has one '#Unique'; write all its key paths there
  #Index<Constraints>([\.d])
//                       ^ error: '#Index' requires stored properties, but 'd' is computed
  var a = 1
  var b = 1
  @Transient var c = 1
  var d: Int { 1 }
  init() {}
}

@Model final class OtherConstraints {
  #Unique<Constraints>([\.a])
//        ^ error: '#Unique' is about the class that it stands in, 'OtherConstraints', not 'Constraints'
  var a = 1
  init() {}
}

struct NoModel {
  #Index<Parent>([\.a])
//^ error: '#Index' belongs in the body of a class with '@Model'
}

// swift-format-ignore-file
import SwiftData

@Model struct Structure { var a = 1 }
//     ^ error: '@Model' requires a class, but 'Structure' is a struct

@Model public struct PublicStructure { public var a = 1 }
//            ^ error: '@Model' requires a class, but 'PublicStructure' is a struct

@Model actor Actor { var a = 1 }
//     ^ error: '@Model' requires a class, but 'Actor' is an actor

@Model @Observable final class Observed { var a = 1 }
//     ^ error: '@Model' makes the class observable; '@Observable' makes its properties so a second time

@Model final class Generic<Value> {
//                        ^ error: A model is stored under its class's name, so 'Generic' can't be generic
  var a = 1
  init() {}
}

@Model final class Uninitialized {
//                 ^ error: 'Uninitialized' requires an initializer that sets 'a' and 'c'
  var a: Int
  var b: String?
  let c: Double
}

@Model class Parent {
  var a = 1
  init() {}
}

@Model final class Child: Parent {
//                 ^ error: 'Child' requires an initializer: that of '@Model' keeps it from inheriting any
  var b = 1
}

@Model final class Convenience {
//                 ^ error: 'Convenience' requires an initializer that sets 'a'
  var a: Int
  convenience init(b: Int) {
    self.init()
  }
}

@Model final class OwnBacking {
  var a = 1
  init(backingData: Int) {}
//^ error: '@Model' writes 'init(backingData:)'; give this initializer another label
}

@Model final class OwnMetadata {
  var schemaMetadata: [Int] = []
//    ^ error: '@Model' writes a member 'schemaMetadata'; give this property another name
  init() {}
}

@ModelActor final class ActorClass {}
//                ^ error: '@ModelActor' requires an actor, but 'ActorClass' is a class

@ModelActor struct ActorStructure {}
//          ^ error: '@ModelActor' requires an actor, but 'ActorStructure' is a struct

@ModelActor actor Unset {
//                ^ error: 'Unset' requires an initializer that sets 'name', 'modelExecutor' and 'modelContainer'
  let name: String
}

struct Plain {
  @Attribute(.unique) var a = 1
//^ error: '@Attribute' requires a property in the body of a class with '@Model'
  @Relationship var b: [Parent] = []
//^ error: '@Relationship' requires a property in the body of a class with '@Model'
  @Transient var c = 1
//^ error: '@Transient' requires a property in the body of a class with '@Model'
}

@Attribute(.unique) nonisolated(unsafe) var global = 1
//< error: '@Attribute' requires a property in the body of a class with '@Model'

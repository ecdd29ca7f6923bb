/// A type as symbols spell it: aliases resolved, every name qualified with its module.
indirect enum MangledType: Hashable, Sendable {
  /// A type of the standard library that has a letter: "S" for String, "i" for Int, "a" for Array.
  case standard(Character)
  case nominal(MangledNominal)
  case generic(MangledType, [MangledType])
  case optional(MangledType)
  case tuple([MangledType])
  case any
  case anyObject
  case existential([MangledNominal])

  /// Equal for equal types, and different from that of every identifier.
  var key: String {
    switch self {
    case .standard(let letter): "S\(letter)"
    case .nominal(let nominal): nominal.key
    case .generic(let base, let arguments): "\(base.key)<\(arguments.map(\.key).joined(separator: ","))>"
    case .optional(let wrapped): "\(wrapped.key)?"
    case .tuple(let elements): "(\(elements.map(\.key).joined(separator: ",")))"
    case .any: "Any"
    case .anyObject: "AnyObject"
    case .existential(let protocols): "any \(protocols.map(\.key).joined(separator: "&"))"
    }
  }
}

/// A class, structure, enumeration or protocol with its path.
final class MangledNominal: Hashable, Sendable {
  enum Kind: String, Sendable {
    case `class` = "C"
    case structure = "V"
    case enumeration = "O"
    case `protocol` = "P"
  }

  let kind: Kind
  let name: DeclarationName
  let module: String
  /// Type that this one is nested in.
  let parent: MangledNominal?

  init(_ kind: Kind, _ name: DeclarationName, module: String, parent: MangledNominal? = nil) {
    self.kind = kind
    self.name = name
    self.module = module
    self.parent = parent
  }

  /// Names from the outermost type inwards.
  var path: [String] { (parent?.path ?? []) + [name.text] }

  var key: String {
    "\(parent?.key ?? module).\(name.text)\(name.discriminator.map { "@\($0)" } ?? "")"
  }

  static func == (left: MangledNominal, right: MangledNominal) -> Bool { left.key == right.key }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A declaration's base name; a private one includes the discriminator of its file.
struct DeclarationName: Hashable, Sendable {
  let text: String
  let discriminator: String?

  init(_ text: String, discriminator: String? = nil) {
    self.text = text
    self.discriminator = discriminator
  }
}

/// The context of a member: a type or an extension of it.
struct MangledContext: Sendable {
  let type: MangledNominal
  /// The extension's module if it is not the type's own.
  let extensionModule: String?

  init(type: MangledNominal, extensionModule: String? = nil) {
    self.type = type
    self.extensionModule = extensionModule
  }
}

/// The subject that a process measures: the floor or one of the stacks.
package enum Subject: Sendable, Hashable, Codable {
  case floor
  case stack(StackDesign)

  /// Name for messages and files.
  package var name: String {
    switch self {
    case .floor: "floor"
    case .stack(let design): design.rawValue
    }
  }
}

import Foundation

/// A cell that an equality index can contain.
enum EqualityKey: Hashable {
  case int(Int64)
  case double(Double)
  case string(String)
  case uuid(UUID)

  init?(_ value: Value) {
    switch value {
    case .int(let int): self = .int(int)
    case .double(let double): self = .double(double)
    case .string(let string): self = .string(string)
    case .uuid(let uuid): self = .uuid(uuid)
    default: return nil
    }
  }
}

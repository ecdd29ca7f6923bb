import CoreDataSQLiteBinding
import Foundation

extension SQLBinding {
  init(_ binding: Binding) {
    switch binding {
    case .null: self = .null
    case .int(let number): self = .integer(number)
    case .double(let number): self = .real(number)
    case .text(let text): self = .text(text)
    case .blob(let bytes): self = .blob(Data(bytes))
    }
  }
}

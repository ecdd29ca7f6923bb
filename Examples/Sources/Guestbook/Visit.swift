import SwiftData

@Model final class Visit {
  @Attribute(.unique) var visitor: String
  var count: Int
  var last: Date

  init(visitor: String) {
    self.visitor = visitor
    count = 0
    last = .now
  }
}

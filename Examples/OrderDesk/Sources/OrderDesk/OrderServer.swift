import CoreData
import Foundation

/// A process that accepts orders, and confirms each one once it is saved.
struct OrderServer {
  private let _context: NSManagedObjectContext
  private let _name: String

  init(_ desk: Desk, name: String) {
    _context = desk.container.newBackgroundContext()
    _context.transactionAuthor = name
    _name = name
  }

  /// Accepts orders until the process ends. A restarted process continues with new numbers.
  func run() {
    var count = 0
    let first = UUID().uuidString.prefix(8)
    while true {
      count += 1
      let number = "\(_name)-\(first)-\(count)"
      let isPlaced = _context.performAndWait { _place(number) }
      confirm(isPlaced ? "placed \(number)" : "refused \(number)")
      usleep(5_000)
    }
  }

  private func _place(_ number: String) -> Bool {
    let order = Order(context: _context)
    order.number = number
    order.item = ["tea", "ink", "rope"].randomElement()
    order.placedAt = Date()
    do {
      try _context.save()
      _context.reset()
      return true
    } catch {
      _context.rollback()
      return false
    }
  }

  /// Writes the line in one call, unbuffered: the process may be killed at any moment.
  private func confirm(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

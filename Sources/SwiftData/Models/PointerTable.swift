import Synchronization

/// Numbers by object address, looked up without a lock: the key paths of a program's accessors are the same
/// objects each time.
///
/// Entered objects are retained forever, so that their addresses stay unique; beyond a limit no more are
/// entered. Any thread.
final class PointerTable: @unchecked Sendable {
  // Unchecked: cells are atomic, and tables are never freed; `_growing` guards who enters.

  /// Most objects that are entered.
  private static let _limit = 4096

  /// Cells of an address and a number, as many pairs as a power of two.
  private struct Cells {
    let mask: Int
    let cells: UnsafeMutablePointer<Atomic<UInt>>

    init(capacity: Int) {
      mask = capacity - 1
      cells = .allocate(capacity: capacity * 2)
      for index in 0..<(capacity * 2) { (cells + index).initialize(to: Atomic(0)) }
    }

    @inline(__always) static func start(_ address: UInt) -> Int {
      // Objects are at least 16 bytes apart.
      Int(truncatingIfNeeded: (address >> 4) &* 0x9E37_79B9_7F4A_7C15 >> 40)
    }

    @inline(__always) func number(of address: UInt) -> Int? {
      var index = Self.start(address) & mask
      while true {
        let found = cells[index * 2].load(ordering: .acquiring)
        if found == address { return Int(bitPattern: cells[index * 2 + 1].load(ordering: .relaxed)) }
        if found == 0 { return nil }
        index = (index + 1) & mask
      }
    }

    func enter(_ number: Int, _ address: UInt) {
      var index = Self.start(address) & mask
      while true {
        let found = cells[index * 2].load(ordering: .relaxed)
        if found == address { return }
        if found == 0 {
          cells[index * 2 + 1].store(UInt(bitPattern: number), ordering: .relaxed)
          cells[index * 2].store(address, ordering: .releasing)
          return
        }
        index = (index + 1) & mask
      }
    }
  }

  private final class Generation {
    let cells: Cells
    init(_ cells: Cells) { self.cells = cells }
  }

  private struct Growth {
    var count = 0
    var generations: [Generation]
    var addresses: [UInt] = []
  }

  private let _current: Atomic<UnsafeRawPointer>
  private let _growth: Mutex<Growth>

  init() {
    let first = Generation(Cells(capacity: 64))
    _current = Atomic(UnsafeRawPointer(Unmanaged.passUnretained(first).toOpaque()))
    nonisolated(unsafe) let generations = [first]
    _growth = Mutex(Growth(generations: generations))
  }

  /// The number of an object; nil if it was not entered.
  @inline(__always) func number(of object: AnyObject) -> Int? {
    number(at: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()))
  }

  /// The number of an address; nil if it was not entered.
  @inline(__always) func number(at address: UInt) -> Int? {
    let generation = Unmanaged<Generation>.fromOpaque(_current.load(ordering: .acquiring))
    return generation._withUnsafeGuaranteedRef { $0.cells.number(of: address) }
  }

  /// Enters a number for an object, permanently.
  func enter(_ number: Int, for object: AnyObject) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    if enter(number, at: address) { _ = Unmanaged.passRetained(object) }
  }

  /// Enters a number for a permanent address.
  ///
  /// - Returns: Whether it was not entered before.
  @discardableResult
  func enter(_ number: Int, at address: UInt) -> Bool {
    _growth.withLock { growth in
      let newest = growth.generations[growth.generations.count - 1]
      guard growth.count < Self._limit, newest.cells.number(of: address) == nil else {
        return false
      }
      growth.count += 1
      growth.addresses.append(address)
      if growth.count * 2 <= newest.cells.mask {
        newest.cells.enter(number, address)
        return true
      }
      let larger = Generation(Cells(capacity: (newest.cells.mask + 1) * 2))
      for known in growth.addresses.dropLast() {
        if let number = newest.cells.number(of: known) { larger.cells.enter(number, known) }
      }
      larger.cells.enter(number, address)
      growth.generations.append(larger)
      _current.store(
        UnsafeRawPointer(Unmanaged.passUnretained(larger).toOpaque()), ordering: .releasing)
      return true
    }
  }
}

import Foundation

/// An arena for texts: allocates from front to back and frees everything at once.
struct TextArena: ~Copyable {
  private static let _blockSize = 1 << 18

  private var _blocks: [UnsafeMutablePointer<UInt8>] = []
  private var _next: UnsafeMutablePointer<UInt8>
  private var _end: UnsafeMutablePointer<UInt8>

  init() {
    _next = UnsafeMutablePointer.allocate(capacity: Self._blockSize)
    _end = _next + Self._blockSize
    _blocks.append(_next)
  }

  deinit { for block in _blocks { block.deallocate() } }

  /// Copies a text, which is shorter than a block.
  @inline(__always)
  mutating func copy(_ text: UnsafePointer<UInt8>, _ count: Int) -> UnsafeMutablePointer<UInt8> {
    if _end - _next < count { _grow() }
    let copy = _next
    memcpy(copy, text, count)
    _next += count
    return copy
  }

  /// Frees all copies, and keeps the first block for the next ones.
  @inline(__always) mutating func removeAll() {
    if _blocks.count > 1 { _shrink() }
    _next = _blocks[0]
  }

  private mutating func _grow() {
    _next = UnsafeMutablePointer.allocate(capacity: Self._blockSize)
    _end = _next + Self._blockSize
    _blocks.append(_next)
  }

  private mutating func _shrink() {
    for block in _blocks.dropFirst() { block.deallocate() }
    _blocks.removeSubrange(1...)
    _end = _blocks[0] + Self._blockSize
  }
}

/// Stops one behind the other, in memory that `realloc` grows, and their texts.
struct FloorStops: ~Copyable {
  private(set) var count = 0
  private var _capacity: Int
  private var _stops: UnsafeMutablePointer<FloorStop>
  private var _texts = TextArena()

  init(capacity: Int = 64) {
    _capacity = capacity
    _stops = Self._resized(nil, capacity)
  }

  deinit { free(_stops) }

  subscript(index: Int) -> FloorStop { @inline(__always) get { _stops[index] } }

  /// Appends the row that a statement over `FloorStop.columns` is at.
  @inline(__always) mutating func append(_ statement: OpaquePointer) {
    if count == _capacity {
      _capacity *= 2
      _stops = Self._resized(_stops, _capacity)
    }
    (_stops + count).initialize(to: FloorStop(statement, &_texts))
    count += 1
  }

  /// Adds rows and checksums.
  @inline(__always) func add(to check: inout Check) {
    for index in 0..<count {
      check.rows += 1
      check.sum += _stops[index].checksum
    }
  }

  /// Removes all stops and keeps their memory.
  @inline(__always) mutating func removeAll() {
    count = 0
    _texts.removeAll()
  }

  private static func _resized(
    _ stops: UnsafeMutablePointer<FloorStop>?, _ capacity: Int
  ) -> UnsafeMutablePointer<FloorStop> {
    realloc(stops, capacity * MemoryLayout<FloorStop>.stride)!.assumingMemoryBound(to: FloorStop.self)
  }
}

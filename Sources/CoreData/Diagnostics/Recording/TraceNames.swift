import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation
import Synchronization

/// The numbers by which events refer to contexts, entities and kinds of requests.
final class TraceNames: Sendable {
  /// A request without the values of its predicate.
  struct Shape: Hashable, Sendable {
    var entity: Int32
    var result: UInt
    var limit: Int
    var offset: Int
    var batch: Int
    var predicate: PredicateShape?
    var sort: [String]
    var prefetch: [String]
  }

  /// A request with a comparison of a key with a value, by the format that it was made of.
  struct ShortShape: Hashable, Sendable {
    let template: ObjectIdentifier
    let kind: UInt8
    let entity: Int32
    let result: UInt
    let limit: Int
    let offset: Int
    let batch: Int
  }

  private struct State {
    var layouts: [PropertyLayout] = []
    var numbers: [ObjectIdentifier: Int32] = [:]
    var shapes: [Shape: Int] = [:]
    /// The formats are kept, as long as they are few: another one must not get the place of one.
    var shortShapes: [ShortShape: (number: Int, template: PredicateTemplate)] = [:]
    /// Of each shape, its request and predicate, values as `?`.
    var texts: [(shape: Shape, predicate: String?)] = []
    var contexts = 0
  }

  private let _state = Mutex(State())
  private let _last = Atomic<UInt64>(0)

  func newContext() -> Int {
    _state.withLock { state in
      state.contexts += 1
      return state.contexts
    }
  }

  /// The number of an entity, whose layout is kept for good.
  func number(of layout: PropertyLayout) -> Int32 {
    let place = UInt64(UInt(bitPattern: Unmanaged.passUnretained(layout).toOpaque()))
    // Most events in a row are of one entity: its address above, its number below.
    let last = _last.load(ordering: .relaxed)
    if last >> 16 == place { return Int32(last & 0xFFFF) }
    let number = _numbered(layout)
    if number < 1 << 16, place < 1 << 48 { _last.store(place << 16 | UInt64(number), ordering: .relaxed) }
    return number
  }

  private func _numbered(_ layout: PropertyLayout) -> Int32 {
    _state.withLock { state in
      let id = ObjectIdentifier(layout)
      if let known = state.numbers[id] { return known }
      let number = Int32(state.layouts.count)
      state.layouts.append(layout)
      state.numbers[id] = number
      return number
    }
  }

  func layout(_ number: Int32) -> PropertyLayout { _state.withLock { $0.layouts[Int(number)] } }

  func number(of shape: ShortShape) -> Int? { _state.withLock { $0.shortShapes[shape]?.number } }

  func add(_ number: Int, of shape: ShortShape, keeping template: PredicateTemplate) {
    _state.withLock { state in
      if state.shortShapes.count < 4096 { state.shortShapes[shape] = (number, template) }
    }
  }

  /// The number of a kind of request.
  func number(of shape: Shape, _ predicate: PredicateTree?) -> Int {
    if let known = _state.withLock({ $0.shapes[shape] }) { return known }
    let text = predicate.map { PredicatePrinter.text(of: $0._withoutValues).replacing("$value", with: "?") }
    return _state.withLock { state in
      if let known = state.shapes[shape] { return known }
      state.texts.append((shape, text))
      state.shapes[shape] = state.texts.count
      return state.texts.count
    }
  }

  /// The kinds of requests after the first ones.
  func shapes(after count: Int) -> [(shape: Shape, predicate: String?)] {
    _state.withLock { Array($0.texts[count...]) }
  }
}

extension PredicateTree {
  /// The predicate with a variable in place of each value.
  fileprivate var _withoutValues: PredicateTree {
    rewritten { (expression: ExpressionTree) throws(Never) -> ExpressionTree? in
      if case .constant = expression { return .variable("value") }
      return nil
    } ?? self
  }
}

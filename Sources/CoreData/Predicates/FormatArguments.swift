import Foundation

// What Core Data code passes to a format: on Apple's platforms all of these are `CVarArg`, by bridging, or
// become so by `as CVarArg`. Here Foundation makes only NSString and the scalars so. An object among the
// arguments of `String(format:)` prints as its description.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
  public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// A value that is passed to a C function as its description.
///
/// There is nothing to adopt or call; it gives Foundation's value types what `CVarArg` asks for. Not in Core
/// Data.
public protocol DescribedArgument: CVarArg, _CVarArgObject {}

extension DescribedArgument {
  public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

  /// Never asked for by formatting, which passes `_cVarArgObject` instead and keeps it alive.
  public var _cVarArgEncoding: [Int] { [0] }
}

extension Date: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension UUID: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension URL: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension Data: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension Decimal: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension Array: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension Set: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}
extension Dictionary: @retroactive CVarArg, @retroactive _CVarArgObject, DescribedArgument {}

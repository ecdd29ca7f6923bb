import Foundation

// Types that Core Data code passes to a format. On Apple's platforms all of them are `CVarArg` through
// bridging, or through `as CVarArg`; on this platform Foundation covers only NSString and the scalars. An
// object among the arguments of `String(format:)` prints as its description.

extension NSObject: @retroactive CVarArg, @retroactive _CVarArgObject {
  public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// A value that is passed to C functions as its description.
///
/// Nothing to adopt or call; provides Foundation's value types with the requirements of `CVarArg`. Not in
/// Core Data.
public protocol DescribedArgument: CVarArg, _CVarArgObject {}

extension DescribedArgument {
  public var _cVarArgObject: any CVarArg { NSString(string: String(describing: self)) }

  /// Never used by formatting, which passes and retains `_cVarArgObject` instead.
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

import Foundation
import PredicateLanguage
import ModelSchema
public protocol KeyValueCoding { func value(forKey key: String) -> Any? }
extension PredicateValue { init(any: Any?) { self = .null } }
extension PredicateTree { init(_ p: NSPredicate) throws { self = .constant(true) } }
extension FetchPlan.SortTerm { init(_ s: NSSortDescriptor) throws { fatalError() } }
extension NSPredicate { func withSubstitutionVariables(_ d: [String: Any]) -> NSPredicate { self } }
enum PredicateOperand { static func value(atKeyPath p: [String], of o: NSManagedObject) throws -> Any? { nil } }

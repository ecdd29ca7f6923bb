import CoreDataSQLiteBinding
import Foundation

extension SQLiteStoreError: StoreFailure {
  func describe(in info: inout [String: Any]) { underlying?._describe(in: &info) }
}

extension StoreOpenError: StoreFailure {
  func describe(in info: inout [String: Any]) { underlying?._describe(in: &info) }
}

extension SQLiteError {
  fileprivate func _describe(in info: inout [String: Any]) {
    info[NSSQLiteErrorDomain] = NSNumber(value: code)
    info[NSUnderlyingErrorKey] = NSError(
      domain: NSSQLiteErrorDomain, code: Int(code), userInfo: [NSLocalizedDescriptionKey: "\(self)"])
  }
}

import CoreDataModelFiles
import CoreDataModelSchema
import Foundation

/// An error of a kind of store, with its mapping to Core Data's errors.
package protocol StoreFailure: Error {
  /// Code in the Cocoa error domain.
  var cocoaCode: Int { get }
  /// Whether what the store holds is damaged, as opposed to a failure of the medium, which may pass.
  var isDamage: Bool { get }
  /// Adds the medium's report to the Cocoa error's user info.
  func describe(in info: inout [String: Any])
}

extension StoreFailure {
  package var isDamage: Bool { StoreErrors.meansDamage(CocoaError.Code(rawValue: cocoaCode)) }
  package func describe(in info: inout [String: Any]) {}
}

/// Translates store errors into Core Data's error domain.
package enum StoreErrors {
  /// Runs `body` and translates its errors to Cocoa errors; conflicts pass unchanged.
  @inline(__always)
  package static func translating<T>(url: URL? = nil, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch {
      throw cocoa(error, url)
    }
  }

  package static func cocoa(_ error: any Error, _ url: URL?) -> any Error {
    var info: [String: Any] = [:]
    if let url { info[NSURLErrorKey] = url.withoutPasswords }
    switch error {
    case is CocoaError, is StoreConflictError, is StoreConstraintError: return error
    case let error as CustomStoreError: return error.underlying
    case let error as any StoreFailure:
      error.describe(in: &info)
      if error.isDamage != meansDamage(CocoaError.Code(rawValue: error.cocoaCode)) {
        info[_damageKey] = error.isDamage
      }
      // A reason may end in a question ("… 'naem' not found; did you mean 'name'?").
      let sentence = "\(error)"
      return CocoaError.coreData(error.cocoaCode, sentence.hasSuffix("?") ? sentence : sentence + ".", info)
    case let error as ModelFileError:
      return CocoaError.coreData(NSPersistentStoreOpenError, "\(error).", info)
    default:
      info[NSUnderlyingErrorKey] = error
      return CocoaError.coreData(NSPersistentStoreOperationError, "\(error)", info)
    }
  }

  /// The user info's word on damage where the code alone does not tell.
  private static let _damageKey = "CDStoreIsDamaged"

  /// Whether a Cocoa error's code says that what a file holds is damaged, or that this file alone cannot be
  /// read.
  static func meansDamage(_ code: CocoaError.Code) -> Bool {
    code == .fileReadCorruptFile || code == .fileReadNoPermission || code == .fileReadTooLarge
  }

  /// Whether an error says that what a store holds is damaged: reading it again fails again, and its object
  /// alone is concerned. Any other error concerns the store, and may pass.
  static func isDamage(_ error: any Error) -> Bool {
    guard let error = error as? CocoaError else { return false }
    return error.userInfo[_damageKey] as? Bool ?? meansDamage(error.code)
  }

  /// Whether an error comes from a store rather than from a policy or handler.
  package static func isOurs(_ error: any Error) -> Bool {
    error is any StoreFailure || error is ModelFileError || error is ModelLayoutError
  }

  /// Whether another writer kept the store locked beyond the save's timeout.
  package static func isBusy(_ error: any Error) -> Bool {
    (error as? CocoaError)?.code.rawValue == NSPersistentStoreTimeoutError
  }
}

/// Carries an error of the program's own code to the caller, who receives it unchanged.
package struct CustomStoreError: Error {
  let underlying: any Error

  package init(underlying: any Error) { self.underlying = underlying }

  /// Runs a method of a custom class and wraps its errors.
  static func marking<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error where error is CocoaError || error is StoreConflictError || error is CustomStoreError {
      throw error
    } catch {
      throw CustomStoreError(underlying: error)
    }
  }
}
